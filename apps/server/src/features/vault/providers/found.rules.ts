import type { AuthMethod, ProviderSettings } from './providers.schema.ts';

/** The facts that an upstream publishes about itself. */
export interface Found {
  /** The issuer whose metadata was read, which an authorization response may name. */
  readonly issuer: string | null;
  readonly authorizationEndpoint: string;
  readonly tokenEndpoint: string;
  readonly revocationEndpoint: string | null;
  readonly userinfoEndpoint: string | null;
  readonly parEndpoint: string | null;
  readonly needsPar: boolean;
  readonly jwksUri: string | null;
  readonly registrationEndpoint: string | null;
  /** The protected resource of an MCP server, as it names itself. */
  readonly resource: string | null;
  /** Whether every authorization response names the issuer (RFC 9207). */
  readonly namesIssuer: boolean;
  readonly idTokenAlgorithms: readonly string[];
  /** Null without metadata. */
  readonly authMethods: readonly string[] | null;
  readonly assertionAlgorithms: readonly string[];
  readonly takesClientDocuments: boolean;
  /** The scopes that an MCP server asks for. */
  readonly defaultScopes: readonly string[];
}

/** A reason for which metadata cannot be used. */
export interface Unusable {
  readonly step: 'metadata' | 'endpoints' | 'pkce' | 'id_token';
  readonly reason: 'unsupported' | 'pkce';
}

type Metadata = Readonly<Record<string, unknown>>;

const ASYMMETRIC = /^(RS|PS|ES)(256|384|512)$|^EdDSA$/;

const textIn = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** The texts of a list; of anything else, none. */
export const textsIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((text) => typeof text === 'string') : [];

/** The endpoints of an upstream that publishes no metadata. */
export const writtenFound = (settings: ProviderSettings): Found => ({
  issuer: null,
  authorizationEndpoint: settings.authorizationEndpoint ?? '',
  tokenEndpoint: settings.tokenEndpoint ?? '',
  revocationEndpoint: settings.revocationEndpoint,
  userinfoEndpoint: settings.userinfoEndpoint,
  parEndpoint: null,
  needsPar: false,
  jwksUri: null,
  registrationEndpoint: null,
  resource: null,
  namesIssuer: false,
  idTokenAlgorithms: [],
  authMethods: null,
  assertionAlgorithms: [],
  takesClientDocuments: false,
  defaultScopes: [],
});

/** @see RFC 8414, section 2, and OpenID Connect Discovery 1.0, section 3 */
export function readMetadata(
  settings: Pick<ProviderSettings, 'kind' | 'pkce' | 'userinfoEndpoint'>,
  issuer: string,
  metadata: Metadata,
): Found | Unusable {
  const authorizationEndpoint = textIn(metadata.authorization_endpoint);
  const tokenEndpoint = textIn(metadata.token_endpoint);
  const hasCode = textsIn(metadata.response_types_supported).some((type) => type === 'code');
  if (authorizationEndpoint === null || tokenEndpoint === null || !hasCode) {
    return { step: 'endpoints', reason: 'unsupported' };
  }
  if (!doesPkce(settings, metadata.code_challenge_methods_supported)) return { step: 'pkce', reason: 'pkce' };
  const jwksUri = textIn(metadata.jwks_uri);
  const idTokenAlgorithms = textsIn(metadata.id_token_signing_alg_values_supported).filter((name) =>
    ASYMMETRIC.test(name),
  );
  if (settings.kind === 'oidc' && (jwksUri === null || idTokenAlgorithms.length === 0)) {
    return { step: 'id_token', reason: 'unsupported' };
  }
  return {
    issuer,
    authorizationEndpoint,
    tokenEndpoint,
    revocationEndpoint: textIn(metadata.revocation_endpoint),
    userinfoEndpoint: settings.userinfoEndpoint ?? textIn(metadata.userinfo_endpoint),
    parEndpoint: textIn(metadata.pushed_authorization_request_endpoint),
    needsPar: metadata.require_pushed_authorization_requests === true,
    jwksUri,
    registrationEndpoint: textIn(metadata.registration_endpoint),
    resource: null,
    namesIssuer: metadata.authorization_response_iss_parameter_supported === true,
    idTokenAlgorithms,
    authMethods: textsIn(metadata.token_endpoint_auth_methods_supported),
    assertionAlgorithms: textsIn(metadata.token_endpoint_auth_signing_alg_values_supported),
    takesClientDocuments: metadata.client_id_metadata_document_supported === true,
    defaultScopes: textsIn(metadata.scopes_supported).filter((scope) => scope === 'offline_access'),
  };
}

/** MCP demands that the list is there. For others an absent list says nothing. */
function doesPkce({ kind, pkce }: Pick<ProviderSettings, 'kind' | 'pkce'>, methods: unknown): boolean {
  if (!Array.isArray(methods)) return kind !== 'mcp' && pkce === 'required';
  const hasS256 = methods.includes('S256');
  return pkce === 'required' ? hasS256 : !hasS256;
}

/** The addresses of the well-known documents of an issuer, in the order of MCP 2026-07-28. */
export function metadataUrls(issuer: string): string[] {
  const { origin, pathname } = new URL(issuer);
  const path = pathname.replace(/\/$/, '');
  const [oauth, oidc] = ['/.well-known/oauth-authorization-server', '/.well-known/openid-configuration'];
  if (path === '') return [origin + oauth, origin + oidc];
  return [origin + oauth + path, origin + oidc + path, origin + path + oidc];
}

/** Whether a protected resource's name for itself is that of the MCP server, or of a parent by whole segments. */
export function namesResource(resource: unknown, mcpUrl: string): boolean {
  if (typeof resource !== 'string' || resource.includes('#') || !URL.canParse(resource)) return false;
  const [named, asked] = [new URL(resource), new URL(mcpUrl)];
  if (named.origin !== asked.origin || (named.search !== '' && named.search !== asked.search)) return false;
  const parent = named.pathname.replace(/\/$/, '');
  return asked.pathname === named.pathname || `${asked.pathname}/`.startsWith(`${parent}/`);
}

const DOABLE: readonly AuthMethod[] = [
  'client_secret_basic',
  'client_secret_post',
  'private_key_jwt',
  'none',
];

interface OwnClient {
  readonly wanted: AuthMethod | null;
  readonly hasSecret: boolean;
}

/** The way in which the developer's own client shows itself. RFC 8414: an absent list means `client_secret_basic`. */
export function methodOf(
  { authMethods }: Pick<Found, 'authMethods'>,
  { wanted, hasSecret }: OwnClient,
): AuthMethod {
  if (wanted !== null) return wanted;
  if (!hasSecret) return 'none';
  const listed = DOABLE.slice(0, 2).find((method) => authMethods?.includes(method));
  return listed ?? 'client_secret_basic';
}

/** Parameters of a `WWW-Authenticate: Bearer` challenge. */
export function challengeIn(header: string): Readonly<Record<string, string>> {
  // A name begins once, where no letter is before it: a server that chooses the header chooses no work.
  const pairs = header.matchAll(/(?<![A-Za-z_])([A-Za-z_]+)="([^"]*)"/g);
  return Object.fromEntries([...pairs].map(([, name, value]) => [String(name), String(value)]));
}
