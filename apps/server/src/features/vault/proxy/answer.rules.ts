import { withoutParameter } from './target.rules.ts';

/** Headers of an upstream's answer that the agent gets. */
const RETURNED: ReadonlySet<string> = new Set([
  'content-type',
  'content-length',
  'content-language',
  'content-disposition',
  'content-range',
  'accept-ranges',
  'etag',
  'last-modified',
]);

/** Headers that no profile returns: they speak for the connection, or for the origin of this service. */
const NEVER_RETURNED =
  /^(set-cookie2?|www-authenticate|proxy-.*|server|alt-svc|connection|keep-alive|te|trailer|transfer-encoding|upgrade|content-encoding|access-control-.*|cross-origin-.*|content-security-policy.*|strict-transport-security|cache-control|pragma|expires|clear-site-data|refresh|x-frame-options|x-content-type-options|referrer-policy|permissions-policy|service-worker-allowed|sourcemap|x-sourcemap|location|link|x-request-id|x-ratelimit-.*|retry-after|behest-.*|sec-.*|authorization|cookie|report-to|nel|origin-agent-cluster|content-length|content-type|x-powered-by)$/;

export const isNeverReturned = (name: string): boolean => NEVER_RETURNED.test(name.toLowerCase());

/** Content of an upstream comes from the origin of this service, and must do nothing there. */
export const INERT = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'content-security-policy': "default-src 'none'; sandbox",
  'behest-proxy': 'upstream',
} as const;

export interface AnswerRules {
  readonly status: number;
  readonly returnHeaders?: readonly string[] | undefined;
  /** The URL that was asked, at the upstream. */
  readonly asked: URL;
  /** The path of the service's proxy, with a slash at its end. */
  readonly proxyPath: string;
  /** The parameter that carries the credential; undefined where a header does. */
  readonly injectedParameter: string | undefined;
  /** Whether a value holds the credential. */
  readonly reflects: (value: string) => boolean;
}

/** Selects the headers that the agent gets. @param raw names and values in turns, as Node has them */
export function headersForAgent(raw: readonly string[], rules: AnswerRules): Record<string, string> {
  const { status, returnHeaders = [], reflects } = rules;
  const added = new Set(returnHeaders.map((name) => name.toLowerCase()));
  const passed: Record<string, string> = {};
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const [name, value] = [String(raw[at]).toLowerCase(), String(raw[at + 1])];
    const returned = returnedAs(name, status, added);
    if (returned === undefined) continue;
    const shown =
      name === 'location' ? movedTo(value, rules) : name === 'link' ? linksIn(value, rules) : value;
    if (shown === undefined || reflects(shown)) continue;
    passed[returned] = passed[returned] === undefined ? shown : `${passed[returned]}, ${shown}`;
  }
  return { ...passed, ...INERT };
}

/** Names that this service uses for itself come under a name of their own. */
function returnedAs(name: string, status: number, added: ReadonlySet<string>): string | undefined {
  if (name === 'retry-after') return status === 429 ? name : `behest-upstream-${name}`;
  if (name.includes('ratelimit')) return `behest-upstream-${name}`;
  if (RETURNED.has(name) || name === 'location' || name === 'link') return name;
  return added.has(name) && !isNeverReturned(name) ? name : undefined;
}

/** The place at the upstream as a path of the proxy; undefined for places elsewhere. */
function movedTo(value: string, { asked, proxyPath, injectedParameter, reflects }: AnswerRules) {
  if (!URL.canParse(value, asked.href)) return undefined;
  const url = new URL(value, asked.href);
  if (url.origin !== asked.origin || url.username !== '' || url.password !== '') return undefined;
  const given = url.search.slice(1);
  const query = injectedParameter === undefined ? given : withoutParameter(given, injectedParameter);
  const moved = `${proxyPath}${url.pathname.slice(1)}${query && `?${query}`}${url.hash}`;
  return reflects(moved) ? undefined : moved;
}

/** RFC 8288. Links to places elsewhere are left out. */
function linksIn(value: string, rules: AnswerRules): string | undefined {
  const links = [
    ...value.matchAll(/<([^<>]*)>((?:\s*;\s*[\w!#$&+.^`|~*-]+(?:=(?:"[^"\\]*"|[^\s",;]*))?)*)/g),
  ];
  const moved = links.flatMap(([, target = '', parameters = '']) => {
    const place = movedTo(target, rules);
    return place === undefined ? [] : [`<${place}>${parameters}`];
  });
  return moved.length > 0 ? moved.join(', ') : undefined;
}
