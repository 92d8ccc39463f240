import { createPrivateKey, createSecretKey, type JsonWebKey, type KeyObject } from 'node:crypto';
import { type Reader, SettingRefusal } from './setting.ts';

const VAULT_KEY = '32 bytes as 64 hex or 44 base64 characters';

/** Standard or URL-safe base64, with its padding or without. */
export const vaultKey: Reader<KeyObject> = { accepts: VAULT_KEY, read: readVaultKey };

function readVaultKey(text: string): KeyObject | undefined {
  if (/^[0-9a-f]{64}$/i.test(text)) return createSecretKey(Buffer.from(text, 'hex'));
  const plain = text.replace(/=$/, '').replaceAll('+', '-').replaceAll('/', '_');
  const bytes = Buffer.from(plain, 'base64url');
  // Node skips characters that it cannot decode, so only a text that encodes back to itself is valid.
  return bytes.length === 32 && bytes.toString('base64url') === plain ? createSecretKey(bytes) : undefined;
}

export const vaultKeys: Reader<KeyObject[]> = {
  accepts: `a comma list of keys, each ${VAULT_KEY}`,
  read(text, { name }) {
    const read = text.split(',').map((entry) => readVaultKey(entry.trim()));
    const keys = read.filter((key) => key !== undefined);
    const wrong = read.flatMap((key, index) => (key ? [] : `${name}[${index}] must be ${VAULT_KEY}`));
    if (wrong.length > 0) throw new SettingRefusal(...wrong);
    return keys;
  },
};

export const seedKey: Reader<string> = {
  accepts: '16 to 512 printable ASCII characters without blanks',
  read: (text) => (/^[\x21-\x7e]{16,512}$/.test(text) ? text : undefined),
};

export const metricsToken: Reader<string> = {
  accepts: 'at least 16 printable ASCII characters without blanks',
  read: (text) => (/^[\x21-\x7e]{16,}$/.test(text) ? text : undefined),
};

export const sharedSecret: Reader<string> = {
  accepts: 'at least 32 characters',
  read: (text) => (text.length >= 32 ? text : undefined),
};

export const consentKey: Reader<KeyObject> = {
  accepts: 'the private JWK of an EC P-256 key',
  read(text) {
    try {
      const jwk: JsonWebKey = JSON.parse(text);
      const key = createPrivateKey({ key: jwk, format: 'jwk' });
      return jwk.kty === 'EC' && jwk.crv === 'P-256' ? key : undefined;
    } catch {
      return undefined; // the refusal names the accepted form; the cause would quote the key
    }
  },
};

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
