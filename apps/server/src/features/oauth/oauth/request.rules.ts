import { parseJsonText } from '@behest/protocol/json';
import { distinctResources } from '@behest/protocol/resource-uri';
import { distinctScopes } from '@behest/protocol/scopes';
import { LONGEST_STATE } from '@behest/protocol/shapes';
import { isWithin, reachesConnector, type ToolLevel, toolLevels } from '@behest/protocol/tool-scopes';
import { isConnectorName } from '@behest/protocol/tools-entry';
import { oauthRefusal } from '../../../platform/errors.ts';
import { uiLocalesOf } from '../../../platform/languages.ts';
import type { ChannelRequest, OAuthAuthorizationRequest, TokenRequest } from './oauth.schema.ts';

/** An authorization request whose members are well formed. */
export interface AcceptedAuthorization {
  /** Empty where the client leaves it to its details or its resources. */
  readonly scopes: string[];
  /** Each in its one spelling. */
  readonly resources: readonly string[];
  readonly codeChallenge: string;
  readonly state: string | undefined;
  readonly purpose: string | undefined;
  readonly details: unknown[] | undefined;
  readonly keyThumbprint: string | undefined;
  readonly loginHint: string | undefined;
  /** Whether the person is asked even where that is not needed. */
  readonly asksAlways: boolean;
  /** Whether the person has to sign in for this very request. */
  readonly asksSignIn: boolean;
  /** The longest time since the sign-in of the person. */
  readonly maxAgeSeconds: number | undefined;
  /** The languages that the person reads. */
  readonly uiLocales: string | undefined;
  /** Whether the client asks for a refresh token. */
  readonly asksRefresh: boolean;
}

const CHALLENGE = /^[A-Za-z0-9_-]{43}$/;
const MAX_RESOURCES = 5;

const MAX_AGE = /^\d{1,9}$/;

/**
 * @see RFC 6749 §4.1.1, RFC 7636 §4.3, RFC 8707 §2, RFC 9396 §2, RFC 9449 §10, RFC 9470 §4
 * @throws an OAuth error
 */
export function acceptAuthorization(form: OAuthAuthorizationRequest): AcceptedAuthorization {
  const invalid = (message: string) => oauthRefusal('invalid_request', message);
  if (form.request !== undefined) throw oauthRefusal('request_not_supported', 'Push the request instead.');
  if (form.response_type === undefined) throw invalid('Send `response_type=code`.');
  if (form.response_type !== 'code') {
    throw oauthRefusal('unsupported_response_type', 'The only `response_type` is `code`.');
  }
  if ((form.response_mode ?? 'query') !== 'query') throw invalid('The only `response_mode` is `query`.');
  const { code_challenge: codeChallenge = '', state } = form;
  if (form.code_challenge_method !== 'S256' || !CHALLENGE.test(codeChallenge)) {
    throw invalid('Send `code_challenge` with `code_challenge_method=S256`.');
  }
  if (state !== undefined && state.length > LONGEST_STATE) {
    throw invalid(`\`state\` has at most ${LONGEST_STATE} characters.`);
  }
  // The query of a link has no schema.
  if ((form.resource ?? []).length > MAX_RESOURCES) {
    throw oauthRefusal('invalid_target', 'Name five resources at most.');
  }
  if (form.dpop_jkt !== undefined && !CHALLENGE.test(form.dpop_jkt))
    throw invalid('`dpop_jkt` is malformed.');
  if (form.max_age !== undefined && !MAX_AGE.test(form.max_age)) {
    throw invalid('`max_age` is a number of seconds.');
  }
  if (wordsOf(form.acr_values).length > 0) {
    // RFC 9470 §5: a level that cannot be reached ends the request, so no token pretends to have it.
    throw oauthRefusal(
      'unmet_authentication_requirements',
      'The service knows no `acr_values`; ask by `max_age`.',
    );
  }
  const prompts = wordsOf(form.prompt);
  if (prompts.includes('none')) {
    throw oauthRefusal('interaction_required', 'A person decides, so `prompt=none` never succeeds.');
  }
  return {
    scopes: fewerScopesOf(form.scope) ?? [],
    resources: distinctResources(form.resource ?? []),
    codeChallenge,
    state,
    purpose: form.purpose,
    details: detailsOf(form.authorization_details),
    keyThumbprint: form.dpop_jkt,
    loginHint: form.login_hint,
    asksAlways: prompts.includes('consent'),
    asksSignIn: prompts.includes('login'),
    maxAgeSeconds: form.max_age === undefined ? undefined : Number(form.max_age),
    uiLocales: uiLocalesOf(form.ui_locales),
    asksRefresh: wordsOf(form.scope).includes('offline_access'),
  };
}

/** A request that comes by another channel than a browser. */
export type AcceptedChannelRequest = Pick<
  AcceptedAuthorization,
  'scopes' | 'resources' | 'purpose' | 'details' | 'asksRefresh'
>;

/** @see RFC 8628 §3.1; OpenID CIBA Core 1.0 §7.1 @throws an OAuth error */
export function acceptChannelForm(form: ChannelRequest): AcceptedChannelRequest {
  if (form.request !== undefined) throw oauthRefusal('request_not_supported', 'Send the members themselves.');
  return {
    scopes: fewerScopesOf(form.scope) ?? [],
    resources: distinctResources(form.resource ?? []),
    purpose: form.purpose,
    details: detailsOf(form.authorization_details),
    asksRefresh: wordsOf(form.scope).includes('offline_access'),
  };
}

const wordsOf = (text = '') => text.split(' ').filter(Boolean);

/** `offline_access` asks for a refresh token, and is no scope of a grant. @throws invalid_scope */
function grantScopesOf(scope: string | undefined): string[] {
  const scopes = distinctScopes(wordsOf(scope).filter((each) => each !== 'offline_access'));
  return mustBeScopes(scopes);
}

/** The scopes that a client wants for one token; undefined for those of the grant. @throws invalid_scope */
export function fewerScopesOf(scope: string | undefined): string[] | undefined {
  const isWhole = scope === undefined || wordsOf(scope).every((each) => each === 'offline_access');
  return isWhole ? undefined : grantScopesOf(scope);
}

/** @throws invalid_authorization_details */
export function detailsOf(text: string | undefined): unknown[] | undefined {
  if (text === undefined) return undefined;
  try {
    const parsed = parseJsonText(text);
    if (Array.isArray(parsed) && parsed.length <= 20) return parsed;
  } catch {
    // The same refusal as for any other text that is not an array.
  }
  throw oauthRefusal('invalid_authorization_details', '`authorization_details` has to be a JSON array.');
}

const MAX_SCOPES = 100;

/** The tools of a connector, each with the permission that it demands. */
type Permissions = ReadonlyMap<string, { readonly permission: ToolLevel }>;

/** @throws invalid_scope */
export function mustBeScopes(scopes: readonly string[]): string[] {
  if (scopes.length > 0 && scopes.length <= MAX_SCOPES) return [...scopes];
  throw oauthRefusal('invalid_scope', 'Send `scope` with 1 to 100 scopes.');
}

/** The connectors of details that no scope reaches. The engine judges the details; malformed entries name none here. */
export function connectorsWithoutScope(scopes: readonly string[], details: readonly unknown[]): string[] {
  const named = details.map((entry) => String(Object(entry).connector)).filter(isConnectorName);
  return distinctScopes(named).filter((connector) => !reachesConnector(scopes, connector));
}

/**
 * The scope of an entry that came without one: the highest permission that a tool of its list demands. Without a
 * manifest, or a list of tools, it is the lowest permission, so nothing is derived that the client has not named.
 */
export function derivedScope(
  connector: string,
  details: readonly unknown[],
  permissions?: Permissions,
): string {
  const { tools } = Object(details.find((entry) => Object(entry).connector === connector));
  const patterns = Array.isArray(tools) ? tools.map(String) : [];
  const listed = [...(permissions ?? [])].filter(([name]) => patterns.some((each) => isWithin(each, name)));
  const levels = listed.map(([, { permission }]) => toolLevels.indexOf(permission));
  return `tool:${connector}:${toolLevels[Math.max(0, ...levels)]}`;
}

/** The credential that comes with a token. The token itself always comes. */
export type CredentialFormat = 'jwt' | 'vc-jwt' | 'sd-jwt' | 'both';

const FORMATS = new Map<string, CredentialFormat>([
  ['jwt', 'jwt'],
  ['vc-jwt', 'vc-jwt'],
  ['sd-jwt', 'sd-jwt'],
  ['both', 'both'],
]);

/** The credential that a form asks for. @throws invalid_request */
export function formatOf({ credential_format: format = 'jwt' }: TokenRequest): CredentialFormat {
  const known = FORMATS.get(format);
  if (!known) throw oauthRefusal('invalid_request', 'The service has no such `credential_format`.');
  return known;
}

/** The same for a part of a grant, about which there is no SD-JWT, as in a native delegation. @throws invalid_request */
export function partFormatOf(form: TokenRequest): Exclude<CredentialFormat, 'sd-jwt'> {
  const format = formatOf(form);
  if (format !== 'sd-jwt') return format;
  throw oauthRefusal('invalid_request', 'A token exchange gives no SD-JWT; ask for `vc-jwt`.');
}

/** A form by which a grant goes on, which is not the moment to state it. @throws invalid_request */
export function mustAskNoCredential(form: TokenRequest): void {
  if (formatOf(form) === 'jwt') return;
  throw oauthRefusal('invalid_request', 'Leave `credential_format` out, and use `POST /v1/credentials`.');
}
