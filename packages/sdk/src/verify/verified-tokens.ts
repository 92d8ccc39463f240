import type { KeySet } from '@behest/protocol/key-set';
import type { VerifiedGrant } from '@behest/protocol/token-verifier';

interface Remembered {
  readonly verified: VerifiedGrant;
  /** The keys that it was verified with. Other keys verify it again. */
  readonly keys: KeySet;
  /** Between these times, in milliseconds, verifying again would answer the same. */
  readonly from: number;
  readonly until: number;
}

/**
 * Remembers verified tokens by their whole text, so a token that differs in one character is another one. Two
 * generations hold at most `most` tokens: what was used since the last change of generation stays.
 */
export function verifiedTokens(most: number, skewMs: number) {
  let [young, old] = [new Map<string, Remembered>(), new Map<string, Remembered>()];

  function add(token: string, remembered: Remembered): void {
    if (young.size >= Math.ceil(most / 2)) [young, old] = [new Map(), young];
    young.set(token, remembered);
  }

  return {
    find(token: string, keys: KeySet, now: number): VerifiedGrant | undefined {
      let remembered = young.get(token);
      if (!remembered) {
        remembered = old.get(token);
        if (!remembered) return undefined;
        old.delete(token);
        add(token, remembered);
      }
      const isGood = remembered.keys === keys && remembered.from <= now && now < remembered.until;
      if (isGood) return remembered.verified;
      young.delete(token);
      return undefined;
    },
    add(token: string, verified: VerifiedGrant, keys: KeySet, now: number): void {
      if (most === 0) return;
      add(token, { verified, keys, from: now, until: verified.claims.expiresAt.getTime() + skewMs });
    },
    get size() {
      return young.size + old.size;
    },
  };
}
