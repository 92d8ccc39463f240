/** What stood in the address: the link of a single sign-in or of an invitation, and that the browser comes from a provider. */
const links = new Map<string, string>();

/** Takes links out of the address at once, so that they stand in no history, bookmark or picture. */
export function takeLink(): void {
  const members = new URLSearchParams(location.hash.slice(1));
  for (const name of ['link', 'invite', 'sso']) {
    const found = members.get(name);
    if (found !== null) links.set(name, found);
  }
  if (links.size > 0) history.replaceState(null, '', location.pathname + location.search);
}

/** @returns the link of a sign-in, or `sso`, at the first call only, because it works once */
export function linkOnce(name: 'link' | 'sso'): string | undefined {
  const found = links.get(name);
  links.delete(name);
  return found;
}

export const invitation = (): string | undefined => links.get('invite');
