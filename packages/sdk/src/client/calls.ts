import { type Caller, principalOf, resourcesOf } from '../api/caller.ts';
import type { CallOptions } from '../api/rows.ts';
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
import type { VerifiedGrant } from '../verify/verified-grant.ts';
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
import { fetchThroughVault, type ThroughVault } from './vault-fetch.ts';

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
