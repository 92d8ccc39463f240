import type { Caller } from '../api/caller.ts';
import type { CallOptions } from '../api/rows.ts';
import { wait } from './retries.ts';

/** How an OAuth client authenticates: a public one by its id alone. */
export interface OAuthClientForm {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly client_assertion_type?: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  readonly client_assertion?: string;
}

interface AuthorizationForm extends OAuthClientForm {
  readonly scope?: string;
  readonly resource?: string | readonly string[];
  readonly authorization_details?: readonly object[];
}

/** An authorization request that is pushed (RFC 9126). */
export interface PushForm extends AuthorizationForm {
  readonly response_type: 'code';
  readonly redirect_uri: string;
  readonly code_challenge: string;
  readonly code_challenge_method: 'S256';
  readonly state?: string;
  readonly purpose?: string;
  readonly prompt?: string;
  readonly login_hint?: string;
  readonly principal_id?: string;
  readonly dpop_jkt?: string;
}

/** A request of the token endpoint. */
export type TokenForm = AuthorizationForm & { readonly credential_format?: string } & (
    | {
        readonly grant_type: 'authorization_code';
        readonly code: string;
        readonly redirect_uri: string;
        readonly code_verifier: string;
      }
    | { readonly grant_type: 'refresh_token'; readonly refresh_token: string }
    | { readonly grant_type: 'urn:ietf:params:oauth:grant-type:device_code'; readonly device_code: string }
    | { readonly grant_type: 'urn:openid:params:grant-type:ciba'; readonly auth_req_id: string }
    | { readonly grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer'; readonly assertion: string }
  );

/** A part of a grant, for another agent (RFC 8693). */
export interface ExchangeForm extends AuthorizationForm {
  readonly subject_token: string;
  /** Default: that of an access token. */
  readonly subject_token_type?: string;
  /** An access token of another agent, or an assertion by its key whose header has the `typ` `actor+jwt`. */
  readonly actor_token?: string;
  readonly actor_token_type?: string;
  readonly audience?: string;
  readonly expires_in?: number;
}

export interface DeviceForm extends AuthorizationForm {
  readonly purpose?: string;
  readonly login_hint?: string;
  readonly principal_id?: string;
}

/** A request to a person whom the client names (OpenID CIBA Core 1.0, poll mode). It takes a client with a secret or a key. */
export interface BackchannelForm extends AuthorizationForm {
  /** The id of the principal. */
  readonly login_hint: string;
  /** The person compares it with what they see elsewhere: 1 to 64 characters. */
  readonly binding_message?: string;
  /** The seconds for which the person may decide, from 60 to 86,400. Default: 300. */
  readonly requested_expiry?: number;
  readonly purpose?: string;
}

/** A token that is asked about, or given back. */
export interface TokenAboutForm extends OAuthClientForm {
  readonly token: string;
  readonly token_type_hint?: 'access_token' | 'refresh_token';
}

/** Metadata of the authorization server (RFC 8414). */
export interface OAuthMetadata {
  readonly issuer: string;
  readonly token_endpoint: string;
  readonly [member: string]: unknown;
}

export interface OAuthTokens {
  readonly access_token: string;
  readonly token_type: 'Bearer' | 'DPoP';
  readonly expires_in: number;
  readonly scope: string;
  readonly refresh_token?: string;
  readonly issued_token_type?: string;
  readonly resource?: readonly string[];
  readonly authorization_details?: readonly unknown[];
  readonly 'urn:service:grant': { readonly grant_id: string };
}

export interface DeviceAuthorization {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

export interface BackchannelAuthentication {
  readonly auth_req_id: string;
  readonly expires_in: number;
  readonly interval: number;
}

/** What the service knows of a token (RFC 7662). Only `active` is there for a token that is not good. */
export interface Introspection {
  readonly active: boolean;
  readonly scope?: string;
  readonly client_id?: string;
  readonly sub?: string;
  readonly exp?: number;
  readonly [member: string]: unknown;
}

/** The endpoints of OAuth, with the names that the standards have. Clients of these endpoints need no API key. */
export interface OAuthEndpoints {
  /** Read what the authorization server offers. */
  metadata(options?: CallOptions): Promise<OAuthMetadata>;
  /** Push an authorization request, so that the browser carries a reference alone. */
  par(
    form: PushForm,
    options?: CallOptions,
  ): Promise<{ readonly request_uri: string; readonly expires_in: number }>;
  /** Get tokens for a code, a refresh token, or a request that a person decides on another device. */
  token(form: TokenForm, options?: CallOptions): Promise<OAuthTokens>;
  /** Delegate a part of a grant to the client that asks. */
  exchange(form: ExchangeForm, options?: CallOptions): Promise<OAuthTokens>;
  /** Ask for a code that a person enters on another device. `poll` waits for the tokens. */
  device(form: DeviceForm, options?: CallOptions): Promise<DeviceAuthorization>;
  /**
   * Ask a person whom the client names. Their application hears of it by the event `authorization.requested`, and leads them
   * to the request with `authorizations.link`. `poll` waits for the tokens.
   */
  backchannel(form: BackchannelForm, options?: CallOptions): Promise<BackchannelAuthentication>;
  /**
   * Ask for the tokens of `device` or `backchannel`, as often as the service allows, until the person has decided.
   *
   * @param client how the client authenticates, or a function of that for each request: an assertion is used once
   * @throws BehestApiError with the code `access_denied` when the person refuses, and `expired_token` when the time is over
   *
   * @example
   * ```ts
   * const client = { client_id: agent.id, client_secret: secret };
   * const asked = await behest.oauth.backchannel({ ...client, scope: 'calendar:read', login_hint: 'user_42' });
   * const tokens = await behest.oauth.poll(asked, client);
   * ```
   */
  poll(
    asked: DeviceAuthorization | BackchannelAuthentication,
    client: OAuthClientForm | (() => OAuthClientForm | Promise<OAuthClientForm>),
    options?: CallOptions,
  ): Promise<OAuthTokens>;
  /** Ask about a token, as a client, or else with the API key. */
  introspect(form: TokenAboutForm, options?: CallOptions): Promise<Introspection>;
  /** Give a token back. The answer is the same for a token that nobody knows. */
  revoke(form: TokenAboutForm, options?: CallOptions): Promise<void>;
}

const DEVICE_CODE = 'urn:ietf:params:oauth:grant-type:device_code';
const CIBA = 'urn:openid:params:grant-type:ciba';
/** How many seconds longer the pause is after each poll that came too early. @see RFC 8628 §3.5 */
const SLOWER_BY = 5;
const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

/** @param pauseFor waits for so many milliseconds */
export function oauthEndpoints(caller: Caller, pauseFor: typeof wait = wait): OAuthEndpoints {
  const post = <Answer>(path: string, form: object, options?: CallOptions, reads = false) =>
    caller.form<Answer>(`/oauth/${path}`, { form: formOf(form), options, reads });
  const token = (form: TokenForm, options?: CallOptions) => post<OAuthTokens>('token', form, options);
  return {
    metadata: (options) => caller.form('/.well-known/oauth-authorization-server', { options, reads: true }),
    par: (form, options) => post('par', form, options),
    token,
    exchange: (form, options) =>
      post('token', { grant_type: EXCHANGE, subject_token_type: ACCESS_TOKEN, ...form }, options),
    device: (form, options) => post('device_authorization', form, options),
    backchannel: (form, options) => post('bc-authorize', form, options),
    async poll(asked, client, options) {
      const request =
        'device_code' in asked
          ? ({ grant_type: DEVICE_CODE, device_code: asked.device_code } as const)
          : ({ grant_type: CIBA, auth_req_id: asked.auth_req_id } as const);
      for (let seconds = asked.interval; ; ) {
        await pauseFor(seconds * 1000, options?.signal);
        const own = typeof client === 'function' ? await client() : client;
        try {
          return await token({ ...own, ...request }, options);
        } catch (error) {
          const { code } = Object(error);
          if (code !== 'authorization_pending' && code !== 'slow_down') throw error;
          if (code === 'slow_down') seconds += SLOWER_BY;
        }
      }
    },
    introspect: ({ ...form }, options) => {
      const isClient = form.client_id !== undefined || form.client_assertion !== undefined;
      return caller.form('/oauth/introspect', {
        ...{ form: formOf(form), options, reads: true },
        isOfAccount: !isClient,
      });
    },
    revoke: async (form, options) => void (await post('revoke', form, options, true)),
  };
}

/** Only `resource` is sent several times (RFC 8707); other lists and objects are JSON. */
function formOf(form: object): URLSearchParams {
  const sent = new URLSearchParams();
  for (const [name, value] of Object.entries(form)) {
    if (value === undefined) continue;
    for (const each of name === 'resource' ? [value].flat() : [value])
      sent.append(name, typeof each === 'object' ? JSON.stringify(each) : String(each));
  }
  return sent;
}
