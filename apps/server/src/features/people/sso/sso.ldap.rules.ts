/** Characters that have a meaning in a filter. @see RFC 4515, section 3 */
const escapeFilter = (value: string): string =>
  value.replace(/[\\*()\0]/g, (character) => `\\${character.charCodeAt(0).toString(16).padStart(2, '0')}`);

/** @see RFC 4514, section 2.4 */
export const escapeDn = (value: string): string =>
  value
    .replace(/[\\"+,;<>=]/g, '\\$&')
    .replace(/\0/g, '\\00')
    .replace(/^[ #]/, '\\$&')
    .replace(/ $/, '\\ ');

/** Puts a value into a filter. */
export const filterWith = (filter: string, name: 'username' | 'dn', value: string): string =>
  filter.replaceAll(`{{${name}}}`, () => escapeFilter(value));

/** The reason why a step at a directory failed: its refusal, or the way to it. */
export function failureAt(step: string, error: unknown, isRefusal: boolean): string {
  if (isRefusal) return step;
  const { code = '', message = '' }: { code?: unknown; message?: string } = Object(error);
  if (/CERT|SELF_SIGNED|VERIFY|TLS|SSL|EPROTO/.test(String(code))) return 'tls_failed';
  if (/TIMEDOUT/.test(String(code)) || /time-?out|timed out/i.test(message)) return 'timeout';
  return 'connection_failed';
}
