/** The links that stood in the address: of a single sign-in, and of an invitation. */
const links = new Map<string, string>();

/** Takes links out of the address at once, so that they stand in no history, bookmark or picture. */
export function takeLink(): void {
  const members = new URLSearchParams(location.hash.slice(1));
  for (const name of ['link', 'invite']) {
    const found = members.get(name);
    if (found !== null) links.set(name, found);
  }
  if (links.size > 0) history.replaceState(null, '', location.pathname + location.search);
}

/** @returns the link of a sign-in at the first call only, because it works once */
export function linkOnce(): string | undefined {
  const found = links.get('link');
  links.delete('link');
  return found;
}

export const invitation = (): string | undefined => links.get('invite');
