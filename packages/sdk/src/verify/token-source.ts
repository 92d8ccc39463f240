import type { KeysUnavailable, MaybePromise, TokenSource } from '@behest/protocol/enforcement/ports';
import { isLegacyKeyId } from '@behest/protocol/key-id';
import type { KeySet } from '@behest/protocol/key-set';
import { readTokenParts } from '@behest/protocol/token-parts';
import { type Refused, refused } from '@behest/protocol/token-refusal';
import { createAsyncTokenVerifier, type VerifiedGrant } from '@behest/protocol/token-verifier';
import type { Fetch } from './fetch-keys.ts';
import { type IssuerKeys, type KeyCache, processKeys } from './key-cache.ts';
import { verifySignature } from './signatures.ts';

const SKEW_SECONDS = 5; // between the clocks of issuer and verifier
const MAX_TOKENS = 1_000;

export interface TokenSourceOptions {
  readonly issuer: string;
  readonly keys: IssuerKeys;
  readonly developerId: string | readonly string[];
  readonly allowSandbox?: boolean;
  readonly audience?: string;
  /** Seconds after `exp` for which a token is still taken: 0 to 60. Default: 5. */
  readonly clockTolerance?: number;
  /** The most verified tokens that are remembered, of some 2 kB each. Default: 1000; 0 for none. */
  readonly rememberedTokens?: number;
}

export type TokenAnswer = VerifiedGrant | Refused | KeysUnavailable;

const texts = new WeakMap<VerifiedGrant, string>();

/** The text of a token that a source verified. The facts do not hold it, so that nobody logs it with them. */
export function textOf(verified: VerifiedGrant): string | undefined {
  return texts.get(verified);
}

/** Verifies tokens of one issuer. A token that was verified before costs one look-up. */
export function tokenSource(options: TokenSourceOptions, clock: () => number = Date.now): TokenSource {
  const { issuer, keys: issuerKeys, developerId, allowSandbox = false, audience } = options;
  const { clockTolerance = SKEW_SECONDS, rememberedTokens = MAX_TOKENS } = options;
  const remembered = verifiedTokens(rememberedTokens, clockTolerance * 1_000);
  const setup = { issuer, developerId, allowSandbox, verifySignature, expirySkewSeconds: clockTolerance };
  /** Made once for each set of keys, so that a verification sees one set from its beginning to its end. */
  const verifiers = new WeakMap<KeySet, ReturnType<typeof createAsyncTokenVerifier>>();
  const verifierOf = (keys: KeySet) => {
    const verifier = verifiers.get(keys) ?? createAsyncTokenVerifier({ ...setup, keys: () => keys });
    verifiers.set(keys, verifier);
    return verifier;
  };
  verifierOf({ byId: new Map(), legacy: undefined }); // refuses wrong settings now, and not at the first token

  async function verifyWith(keys: KeySet, token: string, provedKey?: string) {
    const now = clock();
    const result = await verifierOf(keys).verify(token, {
      now: new Date(now),
      ...(audience !== undefined && { audience }),
      ...(provedKey !== undefined && { provedKeyThumbprint: provedKey }),
    });
    if (result.ok) {
      remembered.add(token, result, keys, now);
      texts.set(result, token);
    }
    return result;
  }

  async function verifySlowly(
    keys: KeySet | Promise<KeySet>,
    token: string,
    provedKey?: string,
  ): Promise<TokenAnswer> {
    try {
      const known = await keys;
      const result = await verifyWith(known, token, provedKey);
      if (result.ok || result.reason !== 'key_not_found' || !mayBeNewer(token, known)) return result;
      const newer = await issuerKeys.refetch();
      return newer === known ? result : await verifyWith(newer, token, provedKey);
    } catch {
      return { ok: false, reason: 'keys_unavailable' };
    }
  }

  return {
    verify(token, provedKey): MaybePromise<TokenAnswer> {
      const keys = issuerKeys.get();
      const found = keys instanceof Promise ? undefined : remembered.find(token, keys, clock());
      if (!found) return verifySlowly(keys, token, provedKey);
      return found.claims.keyThumbprint === provedKey ? found : refused('dpop_required');
    },
  };
}

/** A token without a key id, or with the id of a month, is signed with the legacy key, which never changes. */
function mayBeNewer(token: string, { legacy }: KeySet): boolean {
  const parts = readTokenParts(token, 'grant');
  if (!parts.ok) return false;
  const { kid } = parts.header;
  return !(legacy && (kid === undefined || isLegacyKeyId(kid)));
}

interface KeysFrom {
  readonly fetch?: Fetch | undefined;
  readonly staleIfError?: number | undefined;
  readonly cache?: KeyCache | undefined;
  readonly allowInsecure?: boolean | undefined;
}

/** The keys of an issuer, from the cache of the process unless another one is given. */
export function issuerKeysOf(
  jwksUri: string,
  { fetch, staleIfError, cache = processKeys, allowInsecure }: KeysFrom,
): IssuerKeys {
  return cache.of(jwksUri, {
    ...(fetch && { fetch }),
    ...(staleIfError !== undefined && { staleIfError }),
    ...(allowInsecure !== undefined && { allowInsecure }),
  });
}

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
function verifiedTokens(most: number, skewMs: number) {
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
