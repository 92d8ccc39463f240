import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

const CROCKFORD = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** `ag` → `ag_01KDW…`: a ULID, 48 bits of milliseconds before 80 of chance. @see https://github.com/ulid/spec */
export function newId(prefix: string, now: Date): string {
  let text = '';
  for (let time = now.getTime(), at = 0; at < 10; at += 1, time = Math.floor(time / 32)) {
    text = CROCKFORD.charAt(time % 32) + text;
  }
  // A byte for each character wastes three bits of it, which costs less than arithmetic on 80 bits at once.
  for (const byte of randomBytes(16)) text += CROCKFORD.charAt(byte & 31);
  return `${prefix}_${text}`;
}

/** 22 characters of chance, for hashing beside what must not be guessed from its hash. */
export const newSalt = () => randomBytes(16).toString('base64url');

/** 43 characters that nobody can guess: 32 random bytes, base64url. */
export const newSecret = () => randomBytes(32).toString('base64url');

/** How a secret is stored. A plain hash is enough: of 256 random bits there is nothing to guess slowly. */
export const hashOf = (secret: string): Buffer => createHash('sha256').update(secret).digest();

/** Compares in a time that says nothing of where two texts differ, only whether their lengths do. */
export function isSameText(a: string, b: string): boolean {
  const [one, other] = [Buffer.from(a), Buffer.from(b)];
  return one.length === other.length && timingSafeEqual(one, other);
}
