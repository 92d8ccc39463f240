import { type Reader, SettingRefusal } from './setting.ts';

const ENCODED = '@ as %40, : as %3A, / as %2F, ? as %3F, # as %23, % as %25';
const HAS_PASSWORD = /^[a-z]+:\/\/[^:]*:[^@]*@/i;

/**
 * A URL, or a comma list of URLs, with a user and a password in it. A raw character of the password can end the
 * part that it stands in, and the rest of it would be read as a host. The refusal repeats nothing of the text.
 */
export function withPassword<T>({ accepts, read }: Reader<T>): Reader<T> {
  return {
    accepts,
    read(text, context) {
      const isCut = text.split(/,(?=[a-z]+:\/\/)/).some(hasRawPassword);
      const value = isCut ? undefined : read(text, context);
      if (value !== undefined || !HAS_PASSWORD.test(text)) return value;
      throw new SettingRefusal(
        `${context.name} must be ${accepts}; percent-encode the password if it has such characters: ${ENCODED}`,
      );
    },
  };
}

/** The `@` before the host stands in no path, in no name of a parameter and in no fragment. */
function hasRawPassword(url: string): boolean {
  const [, authority = '', path = '', search = '', fragment] =
    /^[a-z]+:\/\/([^/?#]*)([^?#]*)([^#]*)(#.*)?$/is.exec(url) ?? [];
  if (fragment !== undefined || path.includes('@')) return true;
  if (/(?:^|[?&])[^=&?]*@/.test(search)) return true;
  return !isDecodable(authority.slice(0, Math.max(authority.lastIndexOf('@'), 0)));
}

function isDecodable(text: string): boolean {
  try {
    decodeURIComponent(text);
    return true;
  } catch {
    return false;
  }
}
