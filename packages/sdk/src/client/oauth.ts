import type { Caller } from '../api/caller.ts';
import type { CallOptions } from '../api/rows.ts';

/** How an OAuth client authenticates: a public one by its id alone. */
export interface OAuthClientForm {
  readonly client_id?: string;
  readonly client_secret?: string;
  readonly client_assertion_type?: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
  readonly client_assertion?: string;
}

interface Asked extends OAuthClientForm {
  readonly scope?: string;
  readonly resource?: string | readonly string[];
  readonly authorization_details?: readonly object[];
}

/** An authorization request that is pushed (RFC 9126). */
export interface PushForm extends Asked {
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
export type TokenForm = Asked & { readonly credential_format?: string } & (
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
export interface ExchangeForm extends Asked {
  readonly subject_token: string;
  /** Default: that of an access token. */
  readonly subject_token_type?: string;
  /** An access token of another agent, or an assertion by its key whose header has the `typ` `actor+jwt`. */
  readonly actor_token?: string;
  readonly actor_token_type?: string;
  readonly audience?: string;
  readonly expires_in?: number;
}

export interface DeviceForm extends Asked {
  readonly purpose?: string;
  readonly login_hint?: string;
  readonly principal_id?: string;
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
  /** Ask for a code that a person enters on another device. `token` is polled with it. */
  device(form: DeviceForm, options?: CallOptions): Promise<DeviceAuthorization>;
  /** Ask about a token, as a client, or else with the API key. */
  introspect(form: TokenAboutForm, options?: CallOptions): Promise<Introspection>;
  /** Give a token back. The answer is the same for a token that nobody knows. */
  revoke(form: TokenAboutForm, options?: CallOptions): Promise<void>;
}

const EXCHANGE = 'urn:ietf:params:oauth:grant-type:token-exchange';
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

export function oauthEndpoints(caller: Caller): OAuthEndpoints {
  const post = <Answer>(path: string, form: object, options?: CallOptions, reads = false) =>
    caller.form<Answer>(`/oauth/${path}`, { form: formOf(form), options, reads });
  return {
    metadata: (options) => caller.form('/.well-known/oauth-authorization-server', { options, reads: true }),
    par: (form, options) => post('par', form, options),
    token: (form, options) => post('token', form, options),
    exchange: (form, options) =>
      post('token', { grant_type: EXCHANGE, subject_token_type: ACCESS_TOKEN, ...form }, options),
    device: (form, options) => post('device_authorization', form, options),
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
