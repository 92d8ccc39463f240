import type { Call } from '@behest/protocol/enforcement/call';
import { createEnforcer } from '@behest/protocol/enforcement/enforcer';
import type { Enforcer, ListedTools, OfferedTool, ToolOffer } from '@behest/protocol/enforcement/engine';
import type { DecisionStore, RevocationCheck, TokenSource } from '@behest/protocol/enforcement/ports';
import type { Result } from '@behest/protocol/enforcement/result';
import { type ManifestOptions, manifestFromObject } from '@behest/protocol/manifest/load';
import type { Manifest } from '@behest/protocol/manifest/manifest';
import { developersOf } from '@behest/protocol/whose-tokens';
import { createCaller } from './api/caller.ts';
import type { SignupAnswer, SignupInput } from './api/types.gen.ts';
import { BehestApiError, type RateLimit } from './client/api-errors.ts';
import { type Calls, callsOf } from './client/calls.ts';
import { Approvals, serviceDecisions } from './client/decisions.ts';
import { isLoaded, manifestsIn, pinsOf } from './client/manifest-files.ts';
import { apiKeyOf, type BehestOptions, type CallingOptions, callingOf, type Pins } from './client/options.ts';
import type { Answered } from './client/refusals.ts';
import { onlineRevocation, type Revocations, revocationFeed } from './client/revocation-feed.ts';
import { askService, type ServiceOptions } from './client/service.ts';
import { createTransport, type Transport } from './client/transport.ts';
import { type WrappedCall, wrappedTool } from './client/wrapped-tool.ts';
import { BehestError, BehestNetworkError, BehestTokenError } from './errors.ts';
import type { PresentedProof } from './verify/dpop-proof.ts';
import { provedKey } from './verify/proved-key.ts';
import { issuerKeysOf, type TokenSourceOptions, tokenSource } from './verify/token-source.ts';
import { grantOf, type VerifiedGrant } from './verify/verified-grant.ts';

export interface Behest extends Calls {}

/**
 * The client. It calls the service, verifies grant tokens, and decides about tool calls in this process.
 *
 * @example
 * ```ts
 * const behest = new Behest(); // BEHEST_API_KEY, BEHEST_URL
 * const agent = await behest.agents.register({ name: 'Invoices', scopes: ['invoices:read'] });
 * const { consentUrl } = await behest.authorize({ agentId: agent.id, userId: 'user_42', scopes: ['invoices:read'] });
 * ```
 *
 * @example
 * ```ts
 * const behest = new Behest({ apiKey: null, baseUrl, developerId, manifests: [manifest], meter });
 * const result = await behest.enforce({ grantToken, connector: 'crm', tool: 'lookup', arguments: { id: '7' } });
 * if (!result.allowed) throw new Error(`${result.reasonCode}: ${result.reason}`);
 * ```
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every member of `Calls`
export class Behest {
  readonly #manifests = new Map<string, Manifest>();
  readonly #pins: Pins;
  readonly #tokens: TokenSource;
  readonly #enforcer: Enforcer;
  readonly #service: ServiceOptions | undefined;
  readonly #transport: Transport;
  readonly #callsBy: (send: Transport) => Calls;
  #lastRateLimit: RateLimit | undefined;
  #revocations: Revocations | undefined;
  /** The name of a client that confirms revocations. */
  #confirmsAs: string | undefined;
  /** Asks people about calls that need a decision. */
  readonly approvals = new Approvals(() => this.#mustHaveService());

  /** @throws BehestError for options that cannot be used */
  constructor(options: BehestOptions = {}) {
    const apiKey = apiKeyOf(options);
    const { baseUrl, fetch: ask, transport: setup } = callingOf(options);
    const key = { apiKey };
    this.#service =
      apiKey === undefined ? undefined : { baseUrl, fetch: ask, apiKey: () => key.apiKey ?? apiKey };
    const transport = createTransport(setup);
    const { idempotency = true } = options;
    this.#callsBy = (send) =>
      callsOf(createCaller({ key, transport: send, idempotency }), { baseUrl, fetch: ask, key });
    this.#transport = async (request) => {
      try {
        const answer = await transport(request);
        this.#lastRateLimit = answer.answered.rateLimit ?? this.#lastRateLimit;
        return answer;
      } catch (error) {
        if (error instanceof BehestApiError) this.#lastRateLimit = error.rateLimit ?? this.#lastRateLimit;
        throw error;
      }
    };
    Object.assign(this, this.#callsBy(this.#transport));
    const { meter, capsMode, region } = options;
    const decisions = options.decisions ?? this.#decisionsOf(options, baseUrl);
    if (options.revocation === 'confirmed') this.#confirmsAs = options.verifierName ?? 'verifier';
    const revocation = this.#revocationOf(options);
    this.#tokens = clientTokens(options, baseUrl, this.#service);
    this.#enforcer = createEnforcer({
      ...{ tokens: this.#tokens, manifests: this.#manifests },
      ...(revocation && { revocation }),
      ...(meter && { meter }),
      ...(capsMode && { capsMode }),
      ...(region !== undefined && { dataRegion: region }),
      ...(decisions && { decisions }),
    });
    this.#pins = options.pins ?? {};
    this.loadManifests(options.manifests ?? []);
  }

  /**
   * Opens an account. It has no key yet, so this needs no client.
   *
   * @returns the account with its key, which no other answer shows
   */
  static signup(account: SignupInput, options: CallingOptions = {}): Promise<SignupAnswer> {
    const transport = createTransport(callingOf(options).transport);
    const caller = createCaller({ key: { apiKey: undefined }, transport, idempotency: false });
    return caller.call('developers.signUp', [account]);
  }

  /** What the service said about the rate limit at the last call of this client, which it may have refused. */
  get lastRateLimit(): RateLimit | undefined {
    return this.#lastRateLimit;
  }

  /**
   * Makes one call, and hands over what came with its answer.
   *
   * @example
   * ```ts
   * const { data, response } = await behest.withResponse((calls) => calls.grants.list());
   * console.log(response.requestId, response.rateLimit?.remaining, data.grants.length);
   * ```
   */
  async withResponse<Data>(
    ask: (calls: Calls) => Promise<Data>,
  ): Promise<{ readonly data: Data; readonly response: Answered }> {
    let response: Answered | undefined;
    const data = await ask(
      this.#callsBy(async (request) => {
        const answer = await this.#transport(request);
        response = answer.answered;
        return answer;
      }),
    );
    if (response) return { data, response };
    throw new BehestError('INVALID_ARGUMENT', 'The function made no call.');
  }

  /** @throws BehestError: older clients have this, and Behest does not */
  get commerce(): never {
    throw new BehestError('NOT_PART', '"commerce" is not part of Behest.');
  }

  /** @throws BehestError: older clients have this, and Behest does not */
  get dpdp(): never {
    throw new BehestError('NOT_PART', '"dpdp" is not part of Behest.');
  }

  /**
   * Loads a manifest, in the place of an earlier one of the same connector.
   *
   * @throws ManifestValidationError with the first fault
   */
  loadManifest(manifest: Manifest | object, options?: ManifestOptions): Manifest {
    const known = options ?? pinsOf(this.#pins, Object(manifest).connector);
    const loaded = isLoaded(manifest) ? manifest : manifestFromObject(manifest, known);
    this.#manifests.set(loaded.connector, loaded);
    return loaded;
  }

  /** @throws as `loadManifest` */
  loadManifests(manifests: readonly (Manifest | object)[]): void {
    for (const manifest of manifests) this.loadManifest(manifest);
  }

  /**
   * Loads the manifests of a folder, `.json`, `.yaml` and `.yml`, or none of them. Calls are denied until they are loaded.
   *
   * @throws ManifestValidationError with the first fault, and the name of the file in its message
   * @throws BehestError for a folder that cannot be read, or two files about one connector
   */
  async loadManifestsFromDir(folder: string): Promise<readonly Manifest[]> {
    const loaded = await manifestsIn(folder, this.#pins);
    this.loadManifests(loaded);
    return loaded;
  }

  /** The manifest of a connector. */
  manifest(connector: string): Manifest | undefined {
    return this.#manifests.get(connector);
  }

  /**
   * Verifies a grant token.
   *
   * @param proof the request that came with the token. Without it a token that is bound to a key is refused
   * @throws BehestTokenError for a bad token; BehestNetworkError when the keys cannot be had
   */
  async verify(grantToken: string, proof?: PresentedProof): Promise<VerifiedGrant> {
    const proved = proof && (await provedKey(proof, grantToken, Date.now));
    if (proof && proved === undefined) throw new BehestTokenError('dpop_required');
    const answer = await this.#tokens.verify(grantToken, proved);
    if (answer.ok) return grantOf(answer);
    if (answer.reason !== 'keys_unavailable') throw new BehestTokenError(answer.reason);
    throw new BehestNetworkError('The keys of the issuer could not be fetched.');
  }

  /**
   * Decides about a call. A denial is an answer, and no exception.
   *
   * @throws TypeError when a member that comes from the gateway has a wrong type
   */
  enforce(call: Call): Promise<Result> {
    return this.#enforcer.enforce(call);
  }

  /** Selects the offered tools that some call with the token could use. */
  listTools<Tool extends OfferedTool>(offer: ToolOffer<Tool>): Promise<ListedTools<Tool>> {
    return this.#enforcer.listTools(offer);
  }

  /**
   * Makes a tool that asks before each call. The tool gets the copy of its arguments that was checked.
   *
   * @throws BehestDeniedError from the wrapped tool
   */
  wrapTool<Arguments extends object, Value>(
    tool: (args: Arguments) => Value | Promise<Value>,
    call: WrappedCall,
  ): (args: Arguments) => Promise<Value> {
    return wrappedTool((asked) => this.enforce(asked), tool, call, this.approvals.unsettled);
  }

  /**
   * The revocations that the service tells of, for `verifyGrantToken` and the middleware. All of a client's checks share
   * one event stream, which begins at the first check.
   *
   * @throws BehestError without an API key
   */
  revocations(): Revocations {
    const confirmsAs = this.#confirmsAs;
    this.#revocations ??= revocationFeed(this.#mustHaveService(), confirmsAs ? { confirmsAs } : {});
    return this.#revocations;
  }

  /** Ends the event stream, which otherwise keeps the process alive. */
  close(): void {
    this.#revocations?.close();
  }

  #revocationOf({ revocation = 'off' }: BehestOptions): RevocationCheck | undefined {
    if (revocation === 'off') return undefined;
    if (revocation === 'feed' || revocation === 'confirmed') return this.revocations();
    return revocation === 'online' ? onlineRevocation(this.#mustHaveService()) : revocation;
  }

  /** The service keeps the decisions of a client with a key. */
  #decisionsOf(options: BehestOptions, baseUrl: string): DecisionStore | undefined {
    const { issuer = baseUrl, jwksUri = `${baseUrl}/.well-known/jwks.json` } = options;
    return (
      this.#service &&
      serviceDecisions({ service: this.#service, keys: issuerKeysOf(jwksUri, options), issuer })
    );
  }

  /** @throws BehestError when the service has to be asked, and there is no key to ask it with */
  #mustHaveService(): ServiceOptions {
    if (this.#service) return this.#service;
    throw new BehestError('CONFIGURATION', 'Revocations and decisions are asked for with an API key.');
  }

  /** A client in a log shows no secret. */
  toJSON(): object {
    return { name: 'Behest' };
  }

  toString(): string {
    return 'Behest';
  }
}

/**
 * The source of a client's tokens. Without `developerId` it asks the service whose key it has, once, at the first
 * token; while there is no answer, no token is taken.
 */
function clientTokens(
  options: BehestOptions,
  baseUrl: string,
  service: ServiceOptions | undefined,
): TokenSource {
  const { issuer = baseUrl, jwksUri = `${baseUrl}/.well-known/jwks.json`, developerId } = options;
  const keys = issuerKeysOf(jwksUri, options);
  const sourceFor = (whose: string | readonly string[]) =>
    tokenSource({ ...definedOf(options), issuer, keys, developerId: whose });
  if (developerId !== undefined || !service) return sourceFor(mustBeDevelopers(developerId));

  let source: TokenSource | undefined;
  let learning: Promise<TokenSource> | undefined;
  const learn = async () => {
    const { developerId: own } = await askService(service, '/v1/me');
    // An answer without an id, as another server gives it, names nobody whose tokens are taken.
    if (typeof own !== 'string' || own === '') throw new BehestNetworkError('The service names no account.');
    source = sourceFor(own);
    return source;
  };
  return {
    verify(token, provedKey) {
      if (source) return source.verify(token, provedKey);
      learning ??= learn().finally(() => {
        learning = undefined; // asked again at the next token
      });
      return learning.then(
        (learned) => learned.verify(token, provedKey),
        () => ({ ok: false, reason: 'keys_unavailable' as const }),
      );
    },
  };
}

/** @throws BehestError with the sentence that says why the developer is needed */
function mustBeDevelopers(developerId: BehestOptions['developerId']): string | readonly string[] {
  try {
    // The check takes what JavaScript hands over, which may be nothing.
    developersOf({ developerId: developerId as string });
  } catch (error) {
    throw new BehestError('CONFIGURATION', error instanceof Error ? error.message : String(error));
  }
  return developerId ?? [];
}

function definedOf(
  options: BehestOptions,
): Partial<Omit<TokenSourceOptions, 'issuer' | 'keys' | 'developerId'>> {
  const { allowSandbox, audience, clockTolerance, rememberedTokens } = options;
  return {
    ...(allowSandbox !== undefined && { allowSandbox }),
    ...(audience !== undefined && { audience }),
    ...(clockTolerance !== undefined && { clockTolerance }),
    ...(rememberedTokens !== undefined && { rememberedTokens }),
  };
}
