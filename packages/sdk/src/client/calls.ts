import { type Caller, principalOf, resourcesOf } from '../api/caller.ts';
import { type CallOptions, type ProofKey, segmentOf } from '../api/rows.ts';
import type {
  ApiResources,
  AuthorizeAnswer,
  AuthorizeInput,
  Developer,
  KeysRotateAnswer,
  PrincipalApi,
  SsoGetLoginUrlAnswer,
  UpdateSettingsInput,
} from '../api/types.gen.ts';
import { BehestError } from '../errors.ts';
import type { Fetch } from '../verify/fetch-keys.ts';
import type { VerifiedGrant } from '../verify/verified-grant.ts';
import { apiError } from './api-errors.ts';
import { type ChangesStatus, checkChain, grantIn, type ScimCalls, scimCalls, waiterOf } from './extras.ts';
import {
  type BehestEvent,
  type Connection,
  type Gap,
  type StreamOptions,
  type SubscribeOptions,
  type Subscription,
  streamEvents,
  subscribeTo,
} from './live-events.ts';
import { type OAuthEndpoints, oauthEndpoints } from './oauth.ts';
import { answeredOf, refusalOf } from './refusals.ts';

/** What an agent asks for, and from whom. The person has the id that your program uses. */
export type Wanted = Omit<AuthorizeInput, 'principalId'> &
  ({ readonly userId: string } | { readonly principalId: string });

type Replaced =
  | 'agents'
  | 'authorizations'
  | 'grants'
  | 'audit'
  | 'events'
  | 'vault'
  | 'scim'
  | 'sso'
  | 'oauth'
  | 'principal';

/** The methods that call the service. */
export interface Calls extends Omit<ApiResources, Replaced> {
  readonly agents: ApiResources['agents'] & {
    /** Suspend an agent: its tokens are refused until it is reactivated. */
    readonly suspend: ChangesStatus;
    /** Let a suspended agent work again. */
    readonly reactivate: ChangesStatus;
  };
  readonly authorizations: ApiResources['authorizations'] & {
    /**
     * Ask every two seconds until the person has decided.
     *
     * @returns the code, for `tokens.exchange`
     * @throws BehestDeniedError when the person refuses, or the request ends otherwise
     */
    wait(id: string, options?: CallOptions): Promise<string>;
  };
  readonly grants: ApiResources['grants'] & {
    /**
     * Ask the service whether a grant token is good. `verify` of the client checks it without a call.
     *
     * @throws BehestTokenError when it is not
     */
    verify(token: string, options?: CallOptions): Promise<VerifiedGrant>;
  };
  readonly audit: ApiResources['audit'] & {
    /** Check entries in this process: hashes, links and numbers. */
    readonly verifyChain: typeof checkChain;
  };
  readonly events: ApiResources['events'] & {
    /** Follow events as they happen, and go on after a break. */
    stream(options?: StreamOptions): AsyncGenerator<BehestEvent | Gap>;
    /** Hand each event to a function. */
    subscribe(handler: (event: BehestEvent | Gap) => unknown, options?: SubscribeOptions): Subscription;
  };
  readonly vault: ApiResources['vault'] & {
    /** Call an upstream as `fetch` does. The vault adds the credential of the person. */
    fetch(service: string, path: string, init: RequestInit, through: ThroughVault): Promise<Response>;
  };
  readonly scim: ApiResources['scim'] & {
    /** The people of a directory, as its SCIM token may see them. */
    users(scimToken: string): ScimCalls;
    /** The groups of a directory. */
    groups(scimToken: string): ScimCalls;
  };
  readonly sso: ApiResources['sso'] & {
    /** The address to which a person's browser goes to sign in. */
    getLoginUrl(org: string, domain?: string, options?: CallOptions): Promise<SsoGetLoginUrlAnswer>;
  };
  readonly oauth: ApiResources['oauth'] & OAuthEndpoints;
  /** Ask a person for a grant. Send the person to `consentUrl`. */
  authorize(wanted: Wanted, options?: CallOptions): Promise<AuthorizeAnswer>;
  /** The account whose key this is. */
  me(options?: CallOptions): Promise<Developer>;
  updateSettings(settings: UpdateSettingsInput, options?: CallOptions): Promise<Developer>;
  /** Replace the client's key, and go on with the new one. The old one works for 300 more seconds unless told otherwise. */
  rotateKey(
    input?: { readonly graceSeconds?: number | 'now' },
    options?: CallOptions,
  ): Promise<KeysRotateAnswer>;
  /** The calls that one person's session may make. */
  principal(sessionToken: string): PrincipalApi;
}

/** Makes the methods of a client, those of the table and those written by hand. */
export function callsOf(caller: Caller, connection: Connection): Calls {
  const { principal: _, ...api } = resourcesOf(caller);
  return {
    ...api,
    agents: {
      ...api.agents,
      suspend: (id, options) => api.agents.update(id, { status: 'suspended' }, options),
      reactivate: (id, options) => api.agents.update(id, { status: 'active' }, options),
    },
    authorizations: { ...api.authorizations, wait: waiterOf(api.authorizations) },
    grants: {
      ...api.grants,
      verify: async (...args) => grantIn(await caller.call('grants.verify', args)),
    },
    audit: { ...api.audit, verifyChain: checkChain },
    events: {
      ...api.events,
      stream: (options) => streamEvents(connection, options),
      subscribe: (handler, options) => subscribeTo(connection, handler, options),
    },
    vault: {
      ...api.vault,
      fetch: (service, path, init, through) => fetchThroughVault(connection, [service, path], init, through),
    },
    scim: {
      ...api.scim,
      users: (scimToken) => scimCalls(api.scim, 'User', scimToken),
      groups: (scimToken) => scimCalls(api.scim, 'Group', scimToken),
    },
    sso: {
      ...api.sso,
      getLoginUrl: (org, domain, options) => caller.call('sso.login', [{ org, domain }, options]),
    },
    oauth: { ...api.oauth, ...oauthEndpoints(caller) },
    authorize(wanted, options) {
      const { userId, ...rest } = { userId: undefined, ...wanted };
      return caller.call('authorization.request', [
        userId === undefined ? rest : { ...rest, principalId: userId },
        options,
      ]);
    },
    me: (...args) => caller.call('developers.me', args),
    updateSettings: (...args) => caller.call('developers.change', args),
    async rotateKey({ graceSeconds = 300 } = {}, options) {
      const body = { graceSeconds: graceSeconds === 'now' ? 0 : graceSeconds };
      const rotated = await api.keys.rotate(body, options);
      connection.key.apiKey = rotated.apiKey;
      return rotated;
    },
    principal: (sessionToken) => principalOf(caller, sessionToken),
  };
}

/** The circumstances of a call through the vault. */
export interface ThroughVault {
  readonly grantToken: string;
  /** Another upstream of the profile than the first. */
  readonly upstream?: string | undefined;
  /** One or two decision grants. */
  readonly decisionGrants?: readonly string[] | undefined;
  readonly caseId?: string | undefined;
  readonly dpop?: ProofKey | undefined;
}

/**
 * Calls an upstream through the vault, which adds the credential of the person.
 *
 * @returns the answer of the upstream, whatever its status
 * @throws BehestApiError when the service does not pass the call on
 */
async function fetchThroughVault(
  { baseUrl, fetch }: { readonly baseUrl: string; readonly fetch: Fetch },
  [service, path]: readonly [service: string, path: string],
  init: RequestInit,
  { grantToken, upstream, decisionGrants, caseId, dpop }: ThroughVault,
): Promise<Response> {
  const root = `${baseUrl}/v1/vault/proxy/${segmentOf('service', service)}/`;
  const [url, asked] = addressOf(root, path);
  const headers = new Headers(init.headers);
  const proof = await dpop?.proof(init.method ?? 'GET', url, { accessToken: grantToken });
  headers.set('authorization', `${proof === undefined ? 'Bearer' : 'DPoP'} ${grantToken}`);
  if (proof !== undefined) headers.set('dpop', proof);
  if (upstream !== undefined) headers.set('behest-upstream', upstream);
  if (decisionGrants) headers.set('behest-decision-grant', decisionGrants.join(','));
  if (caseId !== undefined) headers.set('behest-case', caseId);
  const answer = await fetch(`${url}${asked}`, { ...init, headers, redirect: 'manual' });
  if (answer.headers.get('behest-proxy') === 'upstream') return answer;
  throw apiError(refusalOf(answeredOf(answer), await answer.text()));
}

/**
 * The address of a path below `root`, and its query.
 *
 * @throws BehestError for a path that a URL parser would read in another way: it takes a backslash for `/`, drops tabs and
 * line breaks, and ends at `#`, so that a dot segment could reach another route with the token
 */
function addressOf(root: string, path: string): readonly [url: string, query: string] {
  if (/[\\#\p{Cc}]/u.test(path))
    throw new BehestError(
      'INVALID_ARGUMENT',
      'path must not have a backslash, "#" or control characters: percent-encode them.',
    );
  const [place = '', ...query] = path.replace(/^\//, '').split('?');
  if (place.split('/').some((part) => /^(?:\.|%2e){1,2}$/i.test(part.trim())))
    throw new BehestError('INVALID_ARGUMENT', 'path must not have dot segments.');
  const url = `${root}${place}`;
  const [read, below] = [new URL(url), new URL(root)];
  if (read.origin !== below.origin || !read.pathname.startsWith(below.pathname))
    throw new BehestError('INVALID_ARGUMENT', 'path must stay below the service.');
  return [url, query.length > 0 ? `?${query.join('?')}` : ''];
}
