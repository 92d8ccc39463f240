import { createPublicKey, type KeyObject } from 'node:crypto';
import { isLegacyKeyId } from '@behest/protocol/key-id';
import {
  renamed,
  type SigningAlg,
  type VerificationKey,
  verificationKey,
} from '../features/service/keys/index.ts';
import { hasShortModulus, hasWeakExponent, refuseTestKey } from './private-keys.ts';
import { type Context, type Reader, SettingRefusal } from './setting.ts';

const MAX_ENTRIES = 32;

/** A JWK Set (RFC 7517 section 5), or its array alone. `checkVerificationKeys` checks the entries. */
export const jwkEntries: Reader<readonly unknown[]> = {
  accepts: `a JWK Set or an array of 1 to ${MAX_ENTRIES} JWKs`,
  read(text, { name }) {
    const json = parseJson(text, name);
    const entries = isMembers(json) ? json.keys : json;
    return Array.isArray(entries) && entries.length > 0 && entries.length <= MAX_ENTRIES
      ? entries
      : undefined;
  },
};

function parseJson(text: string, name: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SettingRefusal(`${name} is not valid JSON`); // the parser's own words quote the text
  }
}

type Members = Readonly<Record<string, unknown>>;

const isMembers = (json: unknown): json is Members =>
  typeof json === 'object' && json !== null && !Array.isArray(json);

/**
 * The keys that verify beside the own keys, and never sign. A key that is listed twice, or equals an own key,
 * is there once.
 * @throws Refusal with a sentence for each entry that cannot be used
 */
export function checkVerificationKeys(
  entries: readonly unknown[],
  ownKeys: readonly VerificationKey[],
  context: Context,
): VerificationKey[] {
  const byKid = new Map(ownKeys.map((key) => [key.jwk.kid, key]));
  const messages = entries.flatMap((entry, index) => {
    try {
      const key = readEntry(entry, byKid);
      refuseTestKey(key, context);
      if (!byKid.has(key.jwk.kid)) byKid.set(key.jwk.kid, key);
      return [];
    } catch (error) {
      if (!(error instanceof SettingRefusal)) throw error;
      return error.messages.map((message) => `${context.name}[${index}]: ${message}`);
    }
  });
  if (messages.length > 0) throw new SettingRefusal(...messages);
  return [...byKid.values()].slice(ownKeys.length);
}

/** The members that RFC 7518 section 6 gives to private and symmetric keys. */
const PRIVATE_MEMBERS = ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k'];

function readEntry(entry: unknown, byKid: ReadonlyMap<string, VerificationKey>): VerificationKey {
  if (!isMembers(entry)) throw new SettingRefusal('must be a JWK object');
  const secret = PRIVATE_MEMBERS.find((member) => member in entry);
  if (secret) throw new SettingRefusal(`contains private member "${secret}"`);
  const key = readPublicKey(entry);
  if (!isForVerifying(entry)) throw new SettingRefusal('use must be sig');

  const kid = entry.kid ?? key.jwk.kid;
  if (typeof kid !== 'string' || !/^[\x20-\x7e]{1,256}$/.test(kid))
    throw new SettingRefusal('kid is invalid');
  if (isLegacyKeyId(kid)) throw new SettingRefusal('kid has the reserved legacy form');
  const known = byKid.get(kid);
  if (known && known.thumbprint !== key.thumbprint)
    throw new SettingRefusal('kid is already used by another key');
  const isThumbprintKid = /^service-(rs256|es256)-/.test(kid);
  if (isThumbprintKid && kid !== key.jwk.kid)
    throw new SettingRefusal('kid does not match the key thumbprint');
  return renamed(key, kid);
}

const ALG_BY_KTY = new Map<unknown, SigningAlg>([
  ['RSA', 'RS256'],
  ['EC', 'ES256'],
]);

function readPublicKey(entry: Members): VerificationKey {
  const { kty, alg = ALG_BY_KTY.get(kty) } = entry;
  if (!alg || alg !== ALG_BY_KTY.get(kty)) throw new SettingRefusal(`unsupported alg "${nameOf(entry)}"`);
  if (kty === 'EC') {
    const key = entry.crv === 'P-256' ? importKey({ kty, crv: 'P-256', x: entry.x, y: entry.y }) : undefined;
    if (!key) throw new SettingRefusal('must be P-256');
    return verificationKey(key);
  }
  const key = importKey({ kty: 'RSA', n: entry.n, e: entry.e });
  if (!key || hasShortModulus(key)) throw new SettingRefusal('must be at least 2048 bits');
  if (hasWeakExponent(key)) throw new SettingRefusal('has a weak public exponent');
  return verificationKey(key);
}

/** Shows short words only: a longer text may have been meant for another setting. */
function nameOf({ alg, kty }: Members): string {
  const named = [alg, kty].find((word) => typeof word === 'string' && /^[\w+.-]{1,16}$/.test(word));
  return String(named ?? 'none');
}

/** @returns undefined for a value that is no such key, such as a point off its curve */
function importKey(members: Members): KeyObject | undefined {
  try {
    return createPublicKey({ key: members, format: 'jwk' });
  } catch {
    return undefined; // each caller refuses with a sentence of its own
  }
}

function isForVerifying({ use, key_ops: operations }: Members): boolean {
  const mayVerify = operations === undefined || (Array.isArray(operations) && operations.includes('verify'));
  return mayVerify && (use === undefined || use === 'sig');
}
