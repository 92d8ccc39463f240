import type { KeySet } from '@behest/protocol/key-set';
import { BehestNetworkError } from '../errors.ts';
import { type Fetch, type FetchedKeys, fetchKeys, keysAddress, readKeys } from './fetch-keys.ts';

// All in milliseconds.
const SECOND = 1_000;
const [SHORTEST, USUAL, LONGEST] = [60 * SECOND, 600 * SECOND, 86_400 * SECOND];
const STALE = 86_400 * SECOND;
const COOL_DOWN = 30 * SECOND;
const MAX_ADDRESSES = 64;

export interface KeyCacheOptions {
  readonly fetch?: Fetch;
  /** Seconds for which old keys serve while the issuer cannot be reached. Default: 86400; 0 to have none. */
  readonly staleIfError?: number;
  /** True to fetch keys over http from another machine, whose network could put its own in their place. */
  readonly allowInsecure?: boolean;
}

/** The keys of one issuer. */
export interface IssuerKeys {
  /** The keys, without a wait while some are known. @throws BehestNetworkError when there are none to be had */
  get(): KeySet | Promise<KeySet>;
  /**
   * Asks the issuer for a key that a token names and the set lacks: once in 30 seconds, however many tokens come.
   *
   * @throws BehestNetworkError when the last attempt to ask failed
   */
  refetch(): Promise<KeySet>;
}

/**
 * The keys of issuers by address, with one fetch under way for each. The same set stays the same object, so that what
 * was verified with it stays verified.
 *
 * @param clock in milliseconds
 */
export function keyCache(clock: () => number = Date.now) {
  const issuers = new Map<string, IssuerState>();

  function stateOf(url: string): IssuerState {
    const state = issuers.get(url) ?? { url, freshUntil: 0, fetchedAt: 0, triedAt: Number.NEGATIVE_INFINITY };
    issuers.delete(url); // to the end of the order of use
    issuers.set(url, state);
    if (issuers.size > MAX_ADDRESSES) {
      const oldest = [...issuers.values()].find(({ isGiven }) => !isGiven); // given keys cannot be fetched again
      if (oldest) issuers.delete(oldest.url);
    }
    return state;
  }

  function take(state: IssuerState, { keys, text, maxAgeSeconds }: FetchedKeys): KeySet {
    if (text !== state.text || !state.keys) Object.assign(state, { keys, text });
    const maxAge = maxAgeSeconds === undefined ? USUAL : maxAgeSeconds * SECOND;
    state.fetchedAt = clock();
    state.freshUntil = clock() + Math.min(Math.max(maxAge, SHORTEST), LONGEST);
    state.error = undefined;
    return state.keys ?? keys;
  }

  function fetchOnce(state: IssuerState, fetch: Fetch): Promise<KeySet> {
    state.triedAt = clock();
    state.fetching ??= fetchKeys(state.url, fetch)
      .then((fetched) => take(state, fetched))
      .catch((error: unknown) => {
        state.error = error;
        throw error;
      })
      .finally(() => {
        state.fetching = undefined;
      });
    return state.fetching;
  }

  return {
    of(
      address: string,
      { fetch = globalFetch, staleIfError, allowInsecure }: KeyCacheOptions = {},
    ): IssuerKeys {
      const staleMs = staleIfError === undefined ? STALE : staleIfError * SECOND;
      const url = keysAddress(address, allowInsecure);
      return {
        get() {
          const state = stateOf(url);
          const { keys, freshUntil } = state;
          const now = clock();
          if (keys && now < freshUntil) return keys;
          if (!keys && isCoolingDown(state, now) && state.error && !state.fetching) {
            return Promise.reject(state.error);
          }
          if (!keys || now >= freshUntil + staleMs) return fetchOnce(state, fetch);
          if (!isCoolingDown(state, now)) fetchOnce(state, fetch).catch(() => {}); // the old keys serve meanwhile
          return keys;
        },
        async refetch() {
          const state = stateOf(url);
          if (state.keys && state.isGiven) return state.keys; // the host has no network
          if (state.fetching) return state.fetching;
          if (!isCoolingDown(state, clock())) return fetchOnce(state, fetch);
          if (state.error) throw state.error;
          if (!state.keys) throw new BehestNetworkError('The keys of the issuer are not known.');
          return state.keys;
        },
      };
    },
    /** Keys for a host without a network. They serve until the cache is told others, and no token makes it ask for one. */
    preload(jwks: unknown, address: string): void {
      const text = JSON.stringify(jwks);
      const state = stateOf(keysAddress(address));
      Object.assign(state, { keys: readKeys(text), text, fetchedAt: clock(), isGiven: true });
      state.freshUntil = Number.POSITIVE_INFINITY;
    },
  };
}

/** Keys of issuers, kept apart from those of the process. */
export type KeyCache = ReturnType<typeof keyCache>;

interface IssuerState {
  readonly url: string;
  keys?: KeySet;
  text?: string;
  /** True for keys that were given to the cache, and never fetched. */
  isGiven?: boolean;
  fetchedAt: number;
  freshUntil: number;
  /** When the issuer was last asked. */
  triedAt: number;
  /** Why the last attempt failed. */
  error?: unknown;
  fetching?: Promise<KeySet> | undefined;
}

const isCoolingDown = ({ triedAt }: IssuerState, now: number) => now - triedAt < COOL_DOWN;

/** Looked up at each call, so that a program may replace it. */
const globalFetch: Fetch = (url, init) => fetch(url, init);

/** The cache of this process. */
export const processKeys = keyCache();

/**
 * Gives the process the keys of an issuer that it cannot reach. From then on it never asks that issuer: a token of a key
 * that is not among them is refused as `key_not_found`.
 *
 * @param jwks the parsed JWK Set
 * @param jwksUri the address at which verifiers look for it
 * @throws BehestError for an address that keys must not come from; TypeError for a set without a usable key
 */
export function preloadJwks(jwks: unknown, jwksUri: string): void {
  processKeys.preload(jwks, jwksUri);
}
