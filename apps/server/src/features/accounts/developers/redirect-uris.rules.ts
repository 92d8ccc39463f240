const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
/** Scheme, host, port and path of a web address. The host is a name or an address in its plain form. */
const WEB = /^(https?):\/\/([a-z0-9_.-]+|\[[0-9a-f:.]+\])(?::[1-9][0-9]{0,4})?(?=[/?]|$)([^?]*)/i;
/** An app's own address. Its scheme has a dot, so that no two apps choose the same one (RFC 8252 §7.1). */
const APP = /^[a-z][a-z0-9+-]*(?:\.[a-z0-9+-]+)+:(\/[^?]*)/;
const NOT_IN_A_URI = /[^!-~]|[\\#"<>]/; // also white space, control characters and everything beyond ASCII
const CLIMBS = /(^|\/|%2f|%5c)(\.|%2e){2}($|\/|%2f|%5c|;)/i;

/**
 * Whether a browser may be sent to this URI with a code: `https`, `http` on the same machine, or an app's own
 * scheme. Other code compares URIs byte for byte (RFC 9700 §4.1). Parsers are lenient in different ways, so
 * this function accepts only texts that all parsers read alike.
 */
export function isRedirectUri(text: string): boolean {
  if (NOT_IN_A_URI.test(text) || !URL.canParse(text)) return false;
  const { hostname, username, password } = new URL(text);
  if (username !== '' || password !== '') return false;
  const [, scheme, host = '', path = ''] = WEB.exec(text) ?? [];
  if (scheme === 'https' || scheme === 'http') {
    // The parser turns `http://2130706433` into 127.0.0.1, but a person reads another host.
    const isPlain = host.toLowerCase() === hostname && !CLIMBS.test(path);
    return isPlain && (scheme === 'https' || LOOPBACK.has(hostname));
  }
  const ownPath = APP.exec(text)?.[1];
  return ownPath !== undefined && !CLIMBS.test(ownPath);
}
