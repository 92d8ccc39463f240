import { badField } from '../../../platform/errors.ts';
import type { NewProvider, ProviderChange, ProviderSettings } from './providers.schema.ts';

/** Parameters of an authorization request that the service itself writes. */
const OWN_PARAMETERS: ReadonlySet<string> = new Set([
  'response_type',
  'response_mode',
  'client_id',
  'redirect_uri',
  'scope',
  'state',
  'code_challenge',
  'code_challenge_method',
  'nonce',
  'resource',
  'request',
  'request_uri',
]);

const RESERVED_SERVICES: ReadonlySet<string> = new Set(['vault', 'credentials', 'tool']);

export const mustBeService = (service: string): void => {
  if (!RESERVED_SERVICES.has(service.toLowerCase())) return;
  throw badField('service', 'not_allowed', 'The names `vault`, `credentials` and `tool` are reserved.');
};

const ENDPOINTS = [
  'authorizationEndpoint',
  'tokenEndpoint',
  'revocationEndpoint',
  'userinfoEndpoint',
] as const;

const ENDPOINTS_OF_ISSUER = ['authorizationEndpoint', 'tokenEndpoint', 'revocationEndpoint'] as const;

/** @throws BAD_REQUEST */
export function newSettings(input: Omit<NewProvider, 'service'>): ProviderSettings {
  const { kind } = input;
  if (kind === undefined) throw badField('kind', 'required', 'Send `kind`, or a `preset`.');
  return accepted({
    kind,
    preset: input.preset ?? null,
    issuer: null,
    mcpUrl: null,
    authorizationEndpoint: null,
    tokenEndpoint: null,
    revocationEndpoint: null,
    userinfoEndpoint: null,
    clientId: null,
    authMethod: null,
    acceptPartial: false,
    pkce: 'required',
    authorizeParams: {},
    account: kind === 'oidc' ? { source: 'id_token', id: '/sub', label: '/email' } : null,
    scopeSeparator: ' ',
    tokenPointers: {},
    tokenLifetimeSeconds: null,
    ...sent(input),
    scopes: scopesIn(input.scopes),
  });
}

/** @throws BAD_REQUEST */
export function changedSettings(before: ProviderSettings, change: ProviderChange): ProviderSettings {
  return accepted({
    ...before,
    ...sent(change),
    scopes: change.scopes ? scopesIn(change.scopes) : before.scopes,
  });
}

/** The members of settings among those that were sent. */
function sent(input: Omit<NewProvider, 'service'> | ProviderChange): Partial<ProviderSettings> {
  const { name: _, clientSecret: __, scopes: ___, ...members } = input;
  const { status: ____, ...settings } = { status: undefined, ...members };
  return settings;
}

const scopesIn = (scopes: NewProvider['scopes']) => {
  const required = [...new Set(scopes?.required ?? [])];
  return {
    required,
    optional: [...new Set(scopes?.optional ?? [])].filter((scope) => !required.includes(scope)),
  };
};

/** Checks the members against each other. Addresses are checked by the client that calls them. */
function accepted(settings: ProviderSettings): ProviderSettings {
  const { kind, issuer, mcpUrl, pkce, account } = settings;
  if (kind === 'oidc' && issuer === null) throw badField('issuer', 'required');
  if (kind === 'mcp' && mcpUrl === null) throw badField('mcpUrl', 'required');
  if (kind !== 'mcp' && mcpUrl !== null) throw badField('mcpUrl', 'not_allowed');
  const writesEndpoints = kind === 'oauth2' && issuer === null;
  for (const name of writesEndpoints ? [] : ENDPOINTS_OF_ISSUER) {
    if (settings[name] !== null) {
      throw badField(name, 'not_allowed', 'The upstream publishes its endpoints. Leave this one out.');
    }
  }
  if (writesEndpoints && settings.authorizationEndpoint === null) {
    throw badField('authorizationEndpoint', 'required', 'Send `issuer`, or both endpoints.');
  }
  if (writesEndpoints && settings.tokenEndpoint === null) throw badField('tokenEndpoint', 'required');
  if (pkce === 'unsupported' && kind !== 'oidc') {
    const message = 'Only an ID token binds the code where PKCE does not.';
    throw badField('pkce', 'not_allowed', message);
  }
  if (account?.source === 'id_token' && kind !== 'oidc') throw badField('account.source', 'not_allowed');
  const own = Object.keys(settings.authorizeParams).find((name) => OWN_PARAMETERS.has(name));
  if (own !== undefined) throw badField(`authorizeParams.${own}`, 'not_allowed');
  if (kind === 'oidc' && !settings.scopes.required.includes('openid')) {
    const { required, optional } = settings.scopes;
    const rest = optional.filter((scope) => scope !== 'openid');
    return { ...settings, scopes: { required: ['openid', ...required], optional: rest } };
  }
  return settings;
}

/** The addresses that a developer wrote, by their members. */
export const writtenUrls = (settings: ProviderSettings): (readonly [string, string])[] =>
  ([...ENDPOINTS, 'issuer', 'mcpUrl'] as const).flatMap((name) => {
    const url = settings[name];
    return url === null ? [] : [[name, url] as const];
  });

/** A change of these makes another client of it, so the secrets of the one before are dropped. */
export function isOtherClient(
  before: ProviderSettings,
  after: ProviderSettings,
  origins: { readonly before: string; readonly after: string },
): boolean {
  const members = ['issuer', 'mcpUrl', 'tokenEndpoint', 'clientId'] as const;
  return origins.before !== origins.after || members.some((name) => before[name] !== after[name]);
}
