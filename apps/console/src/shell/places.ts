/** What an id names, by its prefix, with the page that shows it. */
const PLACES = [
  { prefix: 'ag_', kind: 'agent', page: '/console/agents' },
  { prefix: 'grnt_', kind: 'grant', page: '/console/grants' },
  { prefix: 'alog_', kind: 'entry', page: '/console/audit' },
] as const;

/** @returns where a record is shown, if the console has a page for its kind */
export function placeOf(id: string) {
  const place = PLACES.find(({ prefix }) => id.startsWith(prefix) && id.length > prefix.length + 8);
  return place && { kind: place.kind, href: `${place.page}/${encodeURIComponent(id)}` };
}
