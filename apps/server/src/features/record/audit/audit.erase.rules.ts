/** Members of the service's entries that are always about a person. */
const PERSONAL = new Set([
  'ip',
  'userAgent',
  'email',
  'name',
  'userName',
  'externalId',
  'userId',
  'principalId',
  'principalIds',
]);
const OF_A_PERSON = /^(principal|member)(:|$)/;

/**
 * Whether a member of an entry's metadata stays when its personal content is erased. Hosts of agents write what they
 * like, so nothing of theirs stays.
 * @param principalId the person whose content is erased; null when content is erased for its age
 */
export function staysErased(
  source: 'service' | 'developer',
  principalId: string | null,
): (member: string, value: unknown) => boolean {
  return (member, value) => {
    if (source === 'developer' || PERSONAL.has(member)) return false;
    if (member === 'actor' && OF_A_PERSON.test(String(value))) return false;
    return principalId === null || !holds(value, principalId);
  };
}

function holds(value: unknown, text: string): boolean {
  if (typeof value === 'string') return value.includes(text);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some((member) => holds(member, text));
}
