import type { CapsMode } from '@behest/protocol/enforcement/call';
import type { CapsMeter } from '@behest/protocol/enforcement/meter';
import type { DecisionStore, RevocationCheck } from '@behest/protocol/enforcement/ports';
import type { Manifest, ManifestPin } from '@behest/protocol/manifest/manifest';
import { BehestError } from '../errors.ts';
import type { Fetch } from '../verify/fetch-keys.ts';
import { serviceAddress } from './service.ts';
import type { CallLine, TransportOptions } from './transport.ts';
import { VERSION } from './version.ts';

const PROXY = /^\/v1\/vault\/proxy\/.*$/;
const DECISION = /^\/v1\/decisions\/[^/]+/;

/**
 * Makes a `fetch` for the requests that the transport does not send, since they have a body of their own kind or an end of
 * their own: streams, calls through the vault, questions about tokens and decisions. It adds the client's headers where a
 * request has none of that name, and tells the logger.
 */
function fetchAside({
  baseUrl,
  fetch,
  headers,
  logger,
}: Pick<TransportOptions, 'baseUrl' | 'fetch' | 'headers' | 'logger'>): Fetch {
  return async (url, init) => {
    const sent = new Headers(headers);
    for (const [name, value] of new Headers(init.headers)) sent.set(name, value);
    const began = performance.now();
    const line = { method: init.method ?? 'GET', path: templateOf(url.slice(baseUrl.length)) };
    const told = (more: object) => logger?.({ ...line, ...more, durationMs: performance.now() - began });
    const answer = await fetch(url, { ...init, headers: sent }).catch((error: unknown) => {
      told({});
      throw error;
    });
    const requestId = answer.headers.get('x-request-id');
    told({ status: answer.status, ...(requestId !== null && { requestId }) });
    return answer;
  };
}

/** The path without its ids, and without what an upstream is asked. */
function templateOf(path: string): string {
  return path
    .replace(/\?[\s\S]*$/, '')
    .replace(PROXY, '/v1/vault/proxy/{service}/{path}')
    .replace(DECISION, '/v1/decisions/{id}');
}

const BASE_URL = 'http://localhost:3001';
const MAX_TIMEOUT = 2_147_483_647; // the longest that timers take, in milliseconds

/** The pins of manifests by connector. */
export type Pins = Readonly<Record<string, readonly ManifestPin[]>>;

export interface BehestOptions {
  /** Default: `BEHEST_API_KEY`. `null` for a client that only verifies and enforces. */
  readonly apiKey?: string | null;
  /** Default: `BEHEST_URL`, else `http://localhost:3001`. */
  readonly baseUrl?: string;
  /**
   * True to call a service on another machine over http, as in a network of one's own. Its network can then read the key, and
   * put its own keys in the place of the issuer's. Default: false.
   */
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
  /** Seconds after `exp` for which a token is still taken: 0 to 60. Default: 5. */
  readonly clockTolerance?: number;
  /** Seconds for which old keys serve while the issuer cannot be reached. Default: 86400. */
  readonly staleIfError?: number;
  /** The most verified tokens that are remembered, of some 2 kB each. Default: 1000. */
  readonly rememberedTokens?: number;
  /** Manifests, loaded or as parsed values. */
  readonly manifests?: readonly (Manifest | object)[];
  /** Which consents to older versions of a manifest still hold, by connector: `pins` of `manifests.get`. Default: none. */
  readonly pins?: Pins;
  /** Counts calls against caps. Without it every metered call is denied. */
  readonly meter?: CapsMeter;
  /** Default: `enforce`. */
  readonly capsMode?: CapsMode;
  /** The region in which this process keeps data. */
  readonly region?: string;
  /**
   * Whether a revocation is seen before a token expires. `online` asks the service at each call; `feed` asks once for
   * each token and follows the events of the service; `confirmed` does so as a verifier that the service knows, and signs
   * for `grants.revoke(id, { wait: 'confirmed' })` that it has stopped. Default: `off`.
   */
  readonly revocation?: 'off' | 'online' | 'feed' | 'confirmed' | RevocationCheck;
  /** The name of a verifier in statements about revocations: up to 64 characters. Default: `verifier`. */
  readonly verifierName?: string;
  /** Where decision grants are held. Default: at the service; without an API key, calls that need one are denied. */
  readonly decisions?: DecisionStore;
  /** Any function with the shape of the global `fetch`. */
  readonly fetch?: Fetch;
  /** Milliseconds for each attempt of a call, the reading of its answer included. Default: 30000. */
  readonly timeout?: number;
  /** Milliseconds for all attempts of a call and the waits between them. Default: 120000. */
  readonly totalTimeout?: number;
  /** How often a call is repeated where nothing can happen twice: 0 to 10. Default: 3. */
  readonly maxRetries?: number;
  /** Headers of every request to the service. None of these takes the place of a credential. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Default: `@behest/sdk/<version>`, where the runtime lets a program name itself. */
  readonly userAgent?: string;
  /** Hears of every attempt: method, path template, status, duration, request id. Nothing else is told. */
  readonly logger?: (line: CallLine) => void;
  /** False to send no idempotency keys. Then a `POST` whose answer is lost is not repeated. Default: true. */
  readonly idempotency?: boolean;
}

/** Reads a variable where there are any. @returns undefined at the edge and in browsers */
function variable(name: string): string | undefined {
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

/** The options that say how a service is called. */
export type CallingOptions = Pick<
  BehestOptions,
  | 'baseUrl'
  | 'allowInsecure'
  | 'fetch'
  | 'timeout'
  | 'totalTimeout'
  | 'maxRetries'
  | 'headers'
  | 'userAgent'
  | 'logger'
>;

/**
 * Finds the service, and how it is called.
 *
 * @throws BehestError for an address that a key must not be sent to, and for limits that cannot be used
 */
export function callingOf(options: CallingOptions) {
  const { baseUrl: given = variable('BEHEST_URL') ?? BASE_URL, allowInsecure = false } = options;
  const baseUrl = serviceAddress(given, allowInsecure);
  const ask: Fetch = options.fetch ?? ((url, init) => fetch(url, init));
  const transport = transportOptions(options, baseUrl, ask);
  return { baseUrl, fetch: fetchAside(transport), transport };
}

/** @throws BehestError for a limit that would end every call or repeat it for ever */
function transportOptions(options: CallingOptions, baseUrl: string, fetch: Fetch): TransportOptions {
  const { timeout = 30_000, totalTimeout = 120_000, maxRetries = 3, logger, userAgent } = options;
  for (const [name, value] of Object.entries({ timeout, totalTimeout })) {
    if (!(value > 0 && value <= MAX_TIMEOUT))
      throw new BehestError('CONFIGURATION', `${name} has to be 1 to ${MAX_TIMEOUT}.`);
  }
  if (!(Number.isInteger(maxRetries) && maxRetries >= 0 && maxRetries <= 10))
    throw new BehestError('CONFIGURATION', 'maxRetries has to be 0 to 10.');
  const agent = userAgent ?? (isBrowser() ? undefined : `@behest/sdk/${VERSION}`);
  const headers = { ...(agent !== undefined && { 'user-agent': agent }), ...options.headers };
  return { baseUrl, fetch, timeout, totalTimeout, maxRetries, headers, logger };
}

/** A browser names itself, and asks the service before it sends a header that the service does not expect. */
const isBrowser = () => 'document' in globalThis;
