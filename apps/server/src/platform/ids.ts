import { hash, randomFillSync, randomUUID, timingSafeEqual } from 'node:crypto';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `ag` → `ag_01KDW…`: a ULID, 48 bits of milliseconds before 80 of chance. @see https://github.com/ulid/spec */
export function newId(prefix: string, now: Date): string {
  let text = '';
  // One byte per character wastes three bits, which costs less than arithmetic on 80 bits at once.
  for (const byte of chance16()) text += CROCKFORD.charAt(byte & 31);
  return firstIdAt(prefix, now) + text;
}

/** The beginning of the ids of this millisecond, which as a text stands before all of them. */
export function firstIdAt(prefix: string, at: Date): string {
  let text = '';
  for (let time = Math.max(at.getTime(), 0), digits = 0; digits < 10; digits += 1) {
    text = CROCKFORD.charAt(time % 32) + text;
    time = Math.floor(time / 32);
  }
  return `${prefix}_${text}`;
}

/**
 * Takes random bytes in pieces from 4096 of its own. To ask for each piece by itself takes a hundred times as long.
 * @param size bytes of a piece, which the caller reads before the next call
 */
function chanceOf(size: number): () => Buffer {
  const chance = Buffer.alloc(4096);
  let used = chance.length;
  return () => {
    if (used === chance.length) {
      randomFillSync(chance);
      used = 0;
    }
    used += size;
    return chance.subarray(used - size, used);
  };
}

/**
 * A UUID of version 7: 48 bits of milliseconds before 74 of chance. An index takes ids in the order of their time at its
 * end, where those of version 4 write a page of it each.
 * @see https://www.rfc-editor.org/rfc/rfc9562#section-5.7
 */
export function newUuid(now: Date): string {
  const time = now.getTime().toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}-7${randomUUID().slice(15)}`;
}

/** For ids and salts, which are shown. */
const chance16 = chanceOf(16);

/** For secrets alone: no byte of theirs is in anything that is shown. */
const chance32 = chanceOf(32);

/** 22 random characters, to be hashed beside a value that nobody may guess from its hash. */
export const newSalt = () => chance16().toString('base64url');

/** 43 characters that nobody can guess: 32 random bytes, base64url. */
export function newSecret(): string {
  const bytes = chance32();
  const secret = bytes.toString('base64url');
  bytes.fill(0); // a later reader of this memory finds no secret that was given out
  return secret;
}

/** The stored form of a secret. A plain hash is enough, because nobody can guess 256 random bits. */
export const hashOf = (secret: string): Buffer => hash('sha256', secret, 'buffer');

/** SHA-256. Node makes a text of it in a third of the time that a buffer takes, and a proof needs thousands. */
export function sha256(bytes: Uint8Array): Buffer {
  const digest = Buffer.allocUnsafe(32);
  digest.write(hash('sha256', bytes, 'binary'), 'latin1');
  return digest;
}

/**
 * The parts of `<developer id>.<id>.<secret>`, the form of secrets in links and cookies, which tell where to look them up.
 * A text of another form has empty parts, so that nothing of it reaches a query.
 */
export function secretParts(text: string) {
  const [, developerId = '', id = '', secret = ''] = /^(\w+)\.(\w+)\.([\w-]{43})$/.exec(text) ?? [];
  return { developerId, id, secret };
}

/** Compares in a time that does not show where two texts differ, only whether their lengths do. */
export function isSameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
