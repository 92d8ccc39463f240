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

/** A shorter secret stands in answers by chance. */
const SHORTEST = 8;

/**
 * The texts by which an upstream would give the credential back: as it was sent, in base64 at each of the three places
 * where it may begin, and percent-encoded.
 * @param secrets the credential, and what it was sent as
 */
export function formsOf(secrets: readonly string[]): readonly Buffer[] {
  const forms = new Set<string>();
  for (const secret of secrets) {
    forms.add(secret);
    const percent = encodeURIComponent(secret);
    forms.add(percent);
    forms.add(percent.replace(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()));
    const json = JSON.stringify(secret).slice(1, -1);
    forms.add(json);
    forms.add(json.replaceAll('/', '\\/')); // as PHP writes it
    for (const shift of [0, 1, 2]) {
      const core = base64Core(Buffer.from(secret), shift);
      forms.add(core);
      forms.add(core.replaceAll('+', '-').replaceAll('/', '_'));
    }
  }
  return [...forms].filter((form) => form.length >= SHORTEST).map((form) => Buffer.from(form));
}

/** The base64 characters that depend on these bytes alone, when so many bytes stand before them in their group of three. */
function base64Core(bytes: Buffer, shift: number): string {
  const text = Buffer.concat([Buffer.alloc(shift), bytes]).toString('base64');
  const first = Math.ceil((shift * 8) / 6);
  const end = Math.floor(((shift + bytes.length) * 8) / 6);
  return text.slice(first, end);
}

/**
 * Whether a whole text gives the credential back, or a part of it at one of its edges. An upstream that cuts its answers
 * as it is asked gives the rest in another answer.
 * @param secrets the forms of the credential alone, without what a profile sends before it
 */
export function reflects({ forms, secrets }: Sought, text: string): boolean {
  const search = searchFor({ forms, secrets });
  return search.read(Buffer.from(text)) === undefined || search.rest() === undefined;
}

/** The texts that a search looks for. */
export interface Sought {
  /** Found as a whole, anywhere. */
  readonly forms: readonly Buffer[];
  /** Found at an edge of the text too, of which a part of eight bytes is enough. */
  readonly secrets: readonly Buffer[];
}

/** Searches a text that comes in parts. */
export interface Search {
  /**
   * @returns the bytes that may be passed on, or undefined when a form is in what came. Bytes that may begin a form wait
   * for the next part, and so does a beginning of the text that may be from the middle of a form. Where many bytes wait,
   * as many have to come before they are searched again: an upstream that sends a form byte by byte would otherwise have
   * the whole of it compared for each.
   */
  read(part: Buffer): Buffer | undefined;
  /** @returns the bytes that still wait, at the end; undefined when they are a part of a form */
  rest(): Buffer | undefined;
}

export function searchFor({ forms, secrets }: Sought): Search {
  let waiting: Buffer = NOTHING;
  let isAtStart = true;
  let unread: Buffer[] = [];
  let unreadBytes = 0;
  const search = () => {
    const [only = NOTHING, ...more] = unread;
    const seen = waiting.length + more.length === 0 ? only : Buffer.concat([waiting, ...unread]);
    [unread, unreadBytes] = [[], 0];
    if (forms.some((form) => form.length <= seen.length && seen.includes(form))) return undefined;
    if (isAtStart) {
      if (secrets.some((form) => overlap(form, seen) >= SHORTEST)) return undefined;
      if (secrets.some((form) => form.includes(seen))) {
        waiting = Buffer.from(seen);
        return NOTHING;
      }
      isAtStart = false;
    }
    const from = seen.length - Math.max(0, ...forms.map((form) => overlap(seen, form)));
    waiting = Buffer.from(seen.subarray(from)); // a copy, or the whole part would stay in memory
    return seen.subarray(0, from);
  };
  return {
    read(part) {
      unread.push(part);
      unreadBytes += part.length;
      return unreadBytes < waiting.length ? NOTHING : search();
    },
    rest() {
      const passed = search();
      if (!passed) return undefined;
      const isInner = isAtStart && waiting.length >= SHORTEST;
      const isBeginning = secrets.some((form) => overlap(waiting, form) >= SHORTEST);
      return isInner || isBeginning ? undefined : Buffer.concat([passed, waiting]);
    },
  };
}

const NOTHING = Buffer.alloc(0);

/**
 * How many bytes at the end of one text are the beginning of the other, and not the whole of it, in time that grows with
 * their length alone (Knuth, Morris and Pratt).
 */
function overlap(before: Buffer, after: Buffer): number {
  const [first] = after;
  const from = first === undefined ? -1 : before.indexOf(first, Math.max(0, before.length - after.length));
  if (from < 0) return 0; // without the work below, which small parts would cost one by one
  const most = before.length - from;
  const borders = new Int32Array(most); // of each beginning of `after`: its longest end that is a beginning too
  for (let at = 1, length = 0; at < most; at += 1) {
    while (length > 0 && after[at] !== after[length]) length = borders[length - 1] ?? 0;
    if (after[at] === after[length]) length += 1;
    borders[at] = length;
  }
  let matched = 0;
  for (let at = before.length - most; at < before.length; at += 1) {
    if (matched === most) matched = borders[matched - 1] ?? 0;
    while (matched > 0 && before[at] !== after[matched]) matched = borders[matched - 1] ?? 0;
    if (before[at] === after[matched]) matched += 1;
  }
  return matched;
}
