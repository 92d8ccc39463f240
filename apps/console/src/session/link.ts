/** The link of a single sign-in, kept until the session is asked for it. */
let link: string | undefined;

/** Takes the link out of the address at once, so that it stands in no history, bookmark or picture. */
export function takeLink(): void {
  const found = new URLSearchParams(location.hash.slice(1)).get('link');
  if (found === null) return;
  link = found;
  history.replaceState(null, '', location.pathname + location.search);
}

/** @returns the link at the first call only, because it works once */
export function linkOnce(): string | undefined {
  const found = link;
  link = undefined;
  return found;
}
