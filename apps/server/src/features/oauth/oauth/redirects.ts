import { isRedirectUri } from '../../accounts/developers/index.ts';

const LOOPBACK = /^http:\/\/(127\.0\.0\.1|\[::1\]|localhost)(?::\d+)?(?=[/?]|$)/;

/** A program's own address, as editors and desktop applications register it: `cursor://anysphere.cursor-mcp/callback`. */
const PROGRAM = /^([a-z][a-z0-9+-]*):\/\/[a-z0-9][a-z0-9._-]*(?:\/[^?]*)?(?:\?.*)?$/i;
const NOT_IN_A_URI = /[^!-~]|[\\#"<>@]/;
const CLIMBS = /(^|\/|%2f|%5c)(\.|%2e){2}($|\/|%2f|%5c|;|\?)/i;

/** Schemes that a browser or an operating system serves itself, so that no program of a client answers at them. */
const SERVED = new Set([
  ...[
    'http',
    'https',
    'ws',
    'wss',
    'ftp',
    'ftps',
    'sftp',
    'ssh',
    'telnet',
    'ldap',
    'ldaps',
    'smb',
    'nfs',
    'rtsp',
  ],
  ...[
    'about',
    'blob',
    'data',
    'feed',
    'file',
    'filesystem',
    'jar',
    'javascript',
    'resource',
    'vbscript',
    'view-source',
  ],
  ...['chrome', 'chrome-extension', 'devtools', 'edge', 'moz-extension', 'safari-web-extension'],
  ...[
    'intent',
    'market',
    'mailto',
    'tel',
    'sms',
    'urn',
    'webcal',
    'shell',
    'search',
    'search-ms',
    'itms',
    'itms-apps',
  ],
]);

/**
 * Whether a client that no developer has registered may name an address. Programs of today register schemes without a
 * dot too, which no registry assigns, so the consent page warns of them as of loopback addresses (RFC 8252 §8.4).
 */
export function isClientRedirectUri(uri: string): boolean {
  return isRedirectUri(uri) || isProgramUri(uri);
}

function isProgramUri(uri: string): boolean {
  const scheme = PROGRAM.exec(uri)?.[1];
  if (scheme === undefined || scheme !== scheme.toLowerCase() || uri.length > 2048) return false;
  return !SERVED.has(scheme) && !scheme.startsWith('ms-') && !NOT_IN_A_URI.test(uri) && !CLIMBS.test(uri);
}

/** Whether an address leads to a program on the person's own machine, which any other program there may imitate. */
export const isLocalUri = (uri: string): boolean => LOOPBACK.test(uri) || isProgramUri(uri);

/** Whether an address is that of a program and not of a web site. */
export const isNativeUri = (uri: string): boolean => LOOPBACK.test(uri) || !/^https?:/.test(uri);

/**
 * Whether a client registered an address. A program on the person's machine chooses its port when it starts, so any port of
 * a registered loopback host matches. The host itself has to be equal: `localhost` does not match `127.0.0.1`.
 * @see RFC 8252 §7.3
 */
export function isRegisteredUri(registered: readonly string[], uri: string): boolean {
  if (registered.includes(uri)) return true;
  if (!LOOPBACK.test(uri) || !isRedirectUri(uri)) return false;
  const portless = withoutPort(uri);
  return registered.some((each) => LOOPBACK.test(each) && withoutPort(each) === portless);
}

const withoutPort = (uri: string) => uri.replace(LOOPBACK, 'http://$1');
