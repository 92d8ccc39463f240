import type { CapsMode } from '@behest/protocol/enforcement/call';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { DecisionStore, RevocationCheck } from '@behest/protocol/enforcement/ports';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { BehestError } from '../errors.ts';
import type { Fetch } from '../verify/fetch-keys.ts';

export interface BehestOptions {
  /** Default: `BEHEST_API_KEY`. `null` for a client that only verifies and enforces. */
  readonly apiKey?: string | null;
  /** Default: `BEHEST_URL`, else `http://localhost:3001`. */
  readonly baseUrl?: string;
  /** True to send a key over http to another machine. Default: false. */
  readonly allowInsecure?: boolean;
  /** Default: `<baseUrl>/.well-known/jwks.json`. */
  readonly jwksUri?: string;
  /** Default: `baseUrl`. */
  readonly issuer?: string;
  /** The audience that tokens have to name. */
  readonly audience?: string;
  /** Whose tokens are taken. With an API key, the client asks the service for its own. */
  readonly developerId?: string | readonly string[];
  /** True to take tokens of sandbox accounts, which no person has approved. Default: false. */
  readonly allowSandbox?: boolean;
  readonly clockTolerance?: number;
  readonly staleIfError?: number;
  /** The most verified tokens that are remembered, of some 2 kB each. Default: 1000. */
  readonly rememberedTokens?: number;
  /** Manifests, loaded or as parsed values. */
  readonly manifests?: readonly (Manifest | object)[];
  /** Counts calls against caps. Without it every metered call is denied. */
  readonly meter?: CapsMeter;
  /** Default: `enforce`. */
  readonly capsMode?: CapsMode;
  /** The region in which this process keeps data. */
  readonly region?: string;
  /**
   * Whether a revocation is seen before a token expires. `online` asks the service at each call; `feed` asks once for
   * each token and follows the events of the service. Default: `off`.
   */
  readonly revocation?: 'off' | 'online' | 'feed' | RevocationCheck;
  /** Where decision grants are held. Default: at the service; without an API key, calls that need one are denied. */
  readonly decisions?: DecisionStore;
  readonly fetch?: Fetch;
}

/** Reads a variable where there are any. @returns undefined at the edge and in browsers */
export function variable(name: string): string | undefined {
  // biome-ignore lint/style/noProcessEnv: the options name their variables, which only the SDK reads
  return globalThis.process?.env[name] || undefined;
}

/** @returns undefined for a client without one */
export function apiKeyOf({ apiKey = variable('BEHEST_API_KEY') }: BehestOptions): string | undefined {
  if (apiKey === null) return undefined;
  const key = apiKey?.trim();
  if (!key) {
    throw new BehestError(
      'CONFIGURATION',
      'apiKey is missing: set BEHEST_API_KEY, or pass `apiKey: null` to verify and enforce only.',
    );
  }
  if (/[\r\n]/.test(key)) throw new BehestError('CONFIGURATION', 'apiKey has a line break inside.');
  return key;
}
