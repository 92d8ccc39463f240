import { allowsName, type Form, type Host, isHostWithin, isPublic, readHost, readName } from './hosts.ts';
import { beginsWith } from './paths.ts';

const MAX_LENGTH = 2_048;
/** Printable ASCII without the characters that readers of URLs treat differently; `%` before two digits only. */
const CHARACTERS = /^(?:[!#$&-;=?-[\]_a-z~]|%[0-9A-Fa-f]{2})*$/;
const URL_TEXT = /^(?<scheme>https?):\/\/(?<host>[^/:?#@]+)(?::(?<port>[1-9][0-9]{0,4}))?(?<rest>\/.*)?$/s;
/** `;`, brackets, and the escapes that some servers decode into a dot, a separator, `%` or NUL. */
const NOT_IN_PATH = /[;[\]]|%(?:2e|2f|5c|25|00)/i;

/** The host `*`: every public name. */
type AnyPublic = '*';

interface Url<HostName> {
  readonly scheme: string;
  readonly host: HostName;
  readonly port: number;
  readonly segments: readonly string[];
}

function readUrl(text: string): (Url<string> & { readonly hasPort: boolean }) | undefined {
  if (text.length > MAX_LENGTH || !CHARACTERS.test(text)) return undefined;
  const { scheme = '', host, port, rest = '' } = URL_TEXT.exec(text)?.groups ?? {};
  if (host === undefined || Number(port ?? 1) > 65_535) return undefined;
  const segments = readSegments(rest.replace(/[?#].*$/s, ''));
  if (!segments) return undefined;
  const own = scheme === 'https' ? 443 : 80;
  return { scheme, host, port: Number(port ?? own), hasPort: port !== undefined, segments };
}

/** @param path empty, or a text that begins with `/` */
function readSegments(path: string): string[] | undefined {
  const segments = path.split('/').slice(1);
  const last = segments.length - 1;
  const isFine = segments.every((segment, at) => isSegment(segment) && (segment !== '' || at === last));
  return isFine ? segments : undefined;
}

function isSegment(segment: string): boolean {
  return segment !== '.' && segment !== '..' && !NOT_IN_PATH.test(segment);
}

function readItem(text: string): Url<Host | AnyPublic> | undefined {
  const url = /[?#]/.test(text) ? undefined : readUrl(text);
  if (!url) return undefined;
  const segments = url.segments.at(-1) === '' ? url.segments.slice(0, -1) : url.segments;
  if (url.host === '*') {
    return url.hasPort || segments.length > 0 ? undefined : { ...url, host: '*', segments };
  }
  const host = readHost(url.host);
  return host && { ...url, host, segments };
}

function readValue(text: string): Url<string> | undefined {
  const url = readUrl(text);
  const host = url && readName(url.host);
  return url && host !== undefined ? { ...url, host } : undefined;
}

function isHostOf(narrow: Host | AnyPublic, wide: Host | AnyPublic): boolean {
  if (wide === '*') return narrow === '*' || isPublic(narrow.name);
  return narrow !== '*' && isHostWithin(narrow, wide);
}

function allows(item: Url<Host | AnyPublic>, value: Url<string>): boolean {
  const isSameHost = item.host === '*' ? isPublic(value.host) : allowsName(item.host, value.host);
  return isSameHost && isSamePlace(item, value);
}

function isSamePlace(wide: Url<unknown>, narrow: Url<unknown>): boolean {
  return (
    wide.scheme === narrow.scheme && wide.port === narrow.port && beginsWith(narrow.segments, wide.segments)
  );
}

/** The form of `url`. No name is looked up; the tool has to refuse private addresses when it connects. */
export const urlForm: Form<Url<Host | AnyPublic>, Url<string>> = {
  readItem,
  readValue,
  allows,
  isWithin: (narrow, wide) => isHostOf(narrow.host, wide.host) && isSamePlace(wide, narrow),
};
