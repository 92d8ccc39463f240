const LONGEST_PATH = 2048;
const LONGEST_TARGET = 8192;
/** The characters of a path and a query (RFC 3986), less those that upstreams read in different ways. */
const PATH = /^\/[A-Za-z0-9._~!$&'()*+,=:@%/-]*$/;
const QUERY = /^[A-Za-z0-9._~!$&'()*+,=:@%/?[\]|-]*$/;
const PERCENT = /%(?![0-9A-Fa-f]{2})/;
/** Characters that end a segment, or a text, for some reader. */
const UNCLEAR = /[\p{Cc}\\;/]|%(?:2f|5c|00|3b)/iu;
const MAX_DECODINGS = 3;

export interface Target {
  /** As it was sent, with the slash at its beginning. */
  readonly path: string;
  /** As it was sent, without the question mark. */
  readonly query: string;
  /** Decoded once. An empty last one is a slash at the end. */
  readonly segments: readonly string[];
}

/**
 * Reads the part of a request's path that is meant for the upstream. A text that two readers could take for different
 * paths is refused, and never repaired.
 *
 * @param tail without the slash at its beginning
 * @returns undefined for a text that is refused
 */
export function readTarget(tail: string): Target | undefined {
  const at = tail.indexOf('?');
  const path = `/${at < 0 ? tail : tail.slice(0, at)}`;
  const query = at < 0 ? '' : tail.slice(at + 1);
  if (path.length > LONGEST_PATH || path.length + query.length > LONGEST_TARGET) return undefined;
  if (!PATH.test(path) || !QUERY.test(query) || PERCENT.test(path) || PERCENT.test(query)) return undefined;
  const texts = path.slice(1).split('/');
  const segments: string[] = [];
  for (const [place, text] of texts.entries()) {
    const isInner = place < texts.length - 1;
    const decoded = decodedOnce(text);
    if (decoded === undefined || (isInner && text === '') || !isClear(text)) return undefined;
    segments.push(decoded);
  }
  const isReadable = parametersOf(query).every(
    ({ name, value }) => name !== undefined && value !== undefined,
  );
  return isReadable ? { path, query, segments } : undefined;
}

/** Looks at a segment as it stands and as readers see it that decode it once, twice or three times. */
function isClear(text: string): boolean {
  let seen: string | undefined = text;
  for (let times = 0; times <= MAX_DECODINGS && seen !== undefined; times += 1) {
    if (UNCLEAR.test(seen) || /^\.{1,2}$/.test(seen)) return false;
    const further: string | undefined = decodedOnce(seen);
    if (further === seen) return true;
    seen = further;
  }
  return true;
}

function decodedOnce(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}

interface Parameter {
  /** As it was sent. */
  readonly text: string;
  /** Decoded, with `+` as a blank; undefined where it cannot be decoded. */
  readonly name: string | undefined;
  readonly value: string | undefined;
}

/** The parameters of a query, in order. */
export function parametersOf(query: string): readonly Parameter[] {
  if (query === '') return [];
  return query.split('&').map((text) => {
    const at = text.indexOf('=');
    const [name, value] = at < 0 ? [text, ''] : [text.slice(0, at), text.slice(at + 1)];
    return {
      text,
      name: decodedOnce(name.replaceAll('+', ' ')),
      value: decodedOnce(value.replaceAll('+', ' ')),
    };
  });
}

/** The query without a parameter of this name, in any encoding and case. */
export function withoutParameter(query: string, name: string): string {
  const own = name.toLowerCase();
  return parametersOf(query)
    .filter((parameter) => parameter.name?.toLowerCase() !== own)
    .map(({ text }) => text)
    .join('&');
}
