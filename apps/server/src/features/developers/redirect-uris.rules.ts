const LOOPBACK = new Set(['localhost', '127.0.0.1', '[::1]']);
const CONTROL_OR_SPACE = /[^!-~]/;

/**
 * Where a browser may be sent with a code: `https`, `http` on this machine alone, or an app's own scheme, which
 * has a dot in it so that two apps do not meet (RFC 8252 §7.1). What it is compared with, it equals byte for
 * byte (RFC 9700 §4.1).
 */
export function isRedirectUri(text: string): boolean {
  if (CONTROL_OR_SPACE.test(text) || /[\\#]/.test(text) || !URL.canParse(text)) return false;
  if (/(^|\/|%2f)(\.|%2e){2}($|\/|%2f|\?)/i.test(text)) return false; // a path that climbs
  const { protocol, hostname, username, password } = new URL(text);
  if (protocol === 'https:' || protocol === 'http:') {
    // The parser is lenient where two readers may not agree; the plain form only.
    const isPlain = /^https?:\/\/[^/?@]+([/?]|$)/.test(text) && username === '' && password === '';
    return isPlain && (protocol === 'https:' || LOOPBACK.has(hostname));
  }
  return /^[a-z][a-z0-9+-]*(\.[a-z0-9+-]+)+:$/.test(protocol) && /^[a-z0-9+.-]+:\/[^@]*$/i.test(text);
}
