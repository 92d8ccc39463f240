const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Scheme, host, port and path of a web address. The host as text: names and addresses in their plain form. */
const WEB = /^(https?):\/\/([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?(?=[/?]|$)([^?]*)/i;
/** An app's own address. Its scheme has a dot in it, so that two apps do not meet (RFC 8252 §7.1). */
const APP = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:(\/[^?]*)/;
const NOT_IN_A_URI = /[^!-~]|[\\#"<>]/; // nor is white space, a control character or anything beyond ASCII
const CLIMBS = /(^|\/|%2f|%5c)(\.|%2e){2}($|\/|%2f|%5c|;)/i;

/**
 * Where a browser may be sent with a code: `https`, `http` on this machine alone, or an app's own scheme. What it is
 * compared with, it equals byte for byte (RFC 9700 §4.1). Parsers are lenient in ways in which two of them differ,
 * so what is accepted is what all of them read alike.
 */
export function isRedirectUri(text: string): boolean {
  if (NOT_IN_A_URI.test(text) || !URL.canParse(text)) return false;
  const { hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  const [, scheme, host = '', path = ''] = WEB.exec(text) ?? [];
  if (scheme === 'https' || scheme === 'http') {
    // Of `http://2130706433` the parser makes 127.0.0.1; whoever reads the text sees another host.
    const isPlain = host.toLowerCase() === hostname && !CLIMBS.test(path);
    return isPlain && (scheme === 'https' || LOOPBACK.has(hostname));
  }
  const ownPath = APP.exec(text)?.[1];
  return ownPath !== undefined && !CLIMBS.test(ownPath);
}
