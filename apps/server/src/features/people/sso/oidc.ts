import { createHash } from 'node:crypto';
import { methodsIn } from '@behest/protocol/authentication';
import { LRUCache } from 'lru-cache';
import type { Egress } from '../../../platform/egress/egress.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { AppError } from '../../../platform/errors.ts';
import { newSecret } from '../../../platform/ids.ts';
import {
  asClient,
  type Found,
  methodOf,
  objectIn,
  readIdToken,
  readMetadata,
} from '../../vault/providers/index.ts';
import { claimAt, groupsOfClaims, personInClaims } from './claims.rules.ts';
import type { SsoDeps } from './deps.ts';
import type { Flight, LoginRequest } from './flight.ts';
import { keysFor } from './keyset.ts';
import { authFailed, type Claimed, idpBroken, mustBeRead } from './outcomes.ts';
import { membersOf, openSecret } from './secrets.ts';
import type { ConnectionRow } from './sso.repo.ts';
import type { SsoMembers } from './sso.rules.ts';

const METADATA_MS = 3_600_000;
const MAX_ISSUERS = 500;

interface Metadata {
  readonly found: Found;
  readonly usesPkce: boolean;
  readonly endSessionEndpoint: string | null;
  readonly readAt: number;
}

/** Metadata of issuers, as this process read it last. */
const known = new WeakMap<Egress, LRUCache<string, Metadata>>();

function knownBy(upstream: Egress): LRUCache<string, Metadata> {
  const kept = known.get(upstream) ?? new LRUCache<string, Metadata>({ max: MAX_ISSUERS });
  known.set(upstream, kept);
  return kept;
}

/**
 * Reads what an issuer publishes about itself, once an hour. No endpoint is guessed.
 * @throws SSO_ERROR with the reason
 */
export async function issuerMetadata(
  { upstream, clock }: Pick<SsoDeps, 'upstream' | 'clock'>,
  issuerUrl: string,
  { isFresh = false } = {},
): Promise<Metadata> {
  const kept = knownBy(upstream).get(issuerUrl);
  const now = clock().getTime();
  if (kept && !isFresh && now - kept.readAt < METADATA_MS) return kept;
  const url = `${issuerUrl.replace(/\/$/, '')}/.well-known/openid-configuration`;
  const answer = await upstream.ask({ url, method: 'GET', headers: { accept: 'application/json' } });
  if (answer.failure !== undefined) throw idpBroken(answer.failure);
  const document = answer.status === 200 ? objectIn(answer.body) : undefined;
  if (!document) throw idpBroken('no_metadata');
  const { issuer, code_challenge_methods_supported: methods, end_session_endpoint: end } = document;
  if (typeof issuer !== 'string') throw idpBroken('no_metadata');
  if (issuer.replace(/\/$/, '') !== issuerUrl.replace(/\/$/, '')) {
    throw idpBroken(/[{}]/.test(issuer) ? 'issuer_of_any_tenant' : 'issuer_mismatch', issuer);
  }
  const usesPkce = !Array.isArray(methods) || methods.includes('S256');
  const pkce = usesPkce ? 'required' : 'unsupported';
  const read = readMetadata({ kind: 'oidc', pkce, userinfoEndpoint: null }, issuer, document);
  if ('step' in read) throw idpBroken(`unusable_${read.step}`);
  const { authorizationEndpoint, tokenEndpoint, jwksUri, userinfoEndpoint } = read;
  for (const endpoint of [authorizationEndpoint, tokenEndpoint, jwksUri ?? '']) {
    if (!acceptUrl(endpoint, upstream.rules)) throw idpBroken('blocked_address');
  }
  const asksUserinfo = userinfoEndpoint !== null && acceptUrl(userinfoEndpoint, upstream.rules);
  const found = { ...read, userinfoEndpoint: asksUserinfo ? userinfoEndpoint : null };
  const endSessionEndpoint = typeof end === 'string' && acceptUrl(end, upstream.rules) ? end : null;
  const metadata = { found, usesPkce, endSessionEndpoint, readAt: now };
  knownBy(upstream).set(issuerUrl, metadata);
  return metadata;
}

/** @throws SSO_ERROR */
export async function oidcAuthorizeUrl(
  deps: Pick<SsoDeps, 'upstream' | 'clock'>,
  row: ConnectionRow,
  { flight, state, loginHint, uiLocales, isAfresh }: LoginRequest,
): Promise<string> {
  const { issuerUrl = '', clientId = '' } = membersOf(row);
  const { found, usesPkce } = await issuerMetadata(deps, issuerUrl);
  const url = new URL(found.authorizationEndpoint);
  const parameters = {
    response_type: 'code',
    client_id: clientId,
    redirect_uri: flight.redirectUri,
    scope: 'openid email profile',
    state,
    nonce: flight.nonce,
    ...(usesPkce && {
      code_challenge: createHash('sha256').update(flight.verifier).digest('base64url'),
      code_challenge_method: 'S256',
    }),
    ...(loginHint !== undefined && { login_hint: loginHint }),
    ...(isAfresh && { prompt: 'login' }),
    ...(flight.maxAgeSeconds !== undefined && { max_age: String(flight.maxAgeSeconds) }),
    ...(uiLocales !== undefined && { ui_locales: uiLocales }),
  };
  for (const [name, value] of Object.entries(parameters)) url.searchParams.set(name, value);
  return url.href;
}

interface Answer {
  readonly code: string;
  readonly iss: string | undefined;
}

/**
 * Exchanges the code, and reads who signed in.
 * @throws SSO_AUTH_FAILED, SSO_ERROR
 */
export async function oidcClaims(
  deps: SsoDeps,
  row: ConnectionRow,
  flight: Flight,
  { code, iss }: Answer,
): Promise<Claimed> {
  const members = membersOf(row);
  const { issuerUrl = '', clientId = '' } = members;
  const { found, usesPkce } = await issuerMetadata(deps, issuerUrl);
  // RFC 9207, section 2.4: a code of another issuer is not redeemed here.
  if (iss === undefined ? found.namesIssuer : iss !== found.issuer) throw authFailed('issuer');
  const said = await redeem(deps, row, { found, usesPkce, flight, code });
  const keys = await keysFor(deps, found, said.id_token);
  if (!keys) throw idpBroken('no_keys');
  const expected = {
    found,
    clientId,
    nonce: flight.nonce,
    accessToken: String(said.access_token),
    clock: deps.clock,
  };
  const read = await readIdToken(said.id_token, keys, expected);
  if ('fault' in read) throw authFailed(`id_token_${read.fault}`, read.said);
  const { claims } = read;
  const { sub, sid, auth_time: authTime, amr } = claims;
  if (!isLateEnough(authTime, flight, deps.clock())) throw authFailed('auth_time');
  const asked = await userinfoFor(deps, found, { claims, members, accessToken: expected.accessToken });
  const sources = [claims, asked?.claims ?? {}];
  return {
    subject: `${found.issuer}|${String(sub)}`,
    idpSubject: String(sub),
    ...personInClaims(sources, members, row.domains),
    groups: groupsFrom(sources, members, asked?.claims === null),
    idpSession: typeof sid === 'string' && sid.length <= 256 ? sid : undefined,
    idToken: String(said.id_token),
    authTime: isTime(authTime) ? authTime : undefined,
    methods: methodsIn(amr),
  };
}

type Claims = Readonly<Record<string, unknown>>;

/** @throws SSO_AUTH_FAILED for groups that could not be read */
function groupsFrom(
  sources: readonly Claims[],
  { groupAttribute }: SsoMembers,
  isUserinfoBroken: boolean,
): string[] {
  if (groupAttribute === null) return [];
  const groups = mustBeRead(groupsOfClaims(sources, groupAttribute));
  const isMissing = sources.every((claims) => claimAt(claims, groupAttribute) === undefined);
  return isMissing && isUserinfoBroken ? mustBeRead({ fault: 'userinfo' }) : groups;
}

interface UserinfoRequest {
  readonly claims: Claims;
  readonly members: SsoMembers;
  readonly accessToken: string;
}

/**
 * Asks the provider for what its ID token leaves out (OpenID Connect Core 1.0, section 5.3): some put the address, the
 * name or the groups there and nowhere else.
 * @returns undefined where nothing is asked; null claims where the provider gave none of this person
 */
async function userinfoFor(
  { upstream }: Pick<SsoDeps, 'upstream'>,
  { userinfoEndpoint: url }: Pick<Found, 'userinfoEndpoint'>,
  { claims, members, accessToken }: UserinfoRequest,
): Promise<{ readonly claims: Claims | null } | undefined> {
  const { emailAttribute, nameAttribute, groupAttribute } = members;
  const wanted = [emailAttribute ?? 'email', nameAttribute ?? 'name', groupAttribute];
  const isComplete = wanted.every((name) => name === null || claimAt(claims, name) !== undefined);
  if (url === null || isComplete) return undefined;
  const headers = { accept: 'application/json', authorization: `Bearer ${accessToken}` };
  const answer = await upstream.ask({ url, method: 'GET', headers });
  const told = answer.failure === undefined && answer.status === 200 ? objectIn(answer.body) : undefined;
  return { claims: told?.sub === claims.sub ? (told ?? null) : null };
}

const isTime = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) > 0;

const SKEW = 60; // seconds

/** A provider that was asked for a recent sign-in has to name its time (OpenID Connect Core 1.0 §2). */
function isLateEnough(authTime: unknown, { maxAgeSeconds }: Flight, now: Date): boolean {
  if (maxAgeSeconds === undefined) return true;
  return isTime(authTime) && now.getTime() / 1000 - authTime <= maxAgeSeconds + SKEW;
}

interface Redeeming {
  readonly found: Found;
  readonly usesPkce: boolean;
  readonly flight: Pick<Flight, 'redirectUri' | 'verifier'>;
  readonly code: string;
}

/** Shows the provider a code that it never made: it refuses the code, or else the client. @throws SSO_ERROR */
export async function tryClient(deps: SsoDeps, row: ConnectionRow): Promise<void> {
  const { issuerUrl = '' } = membersOf(row);
  const { found, usesPkce } = await issuerMetadata(deps, issuerUrl);
  const flight = { redirectUri: `${deps.publicBaseUrl}/sso/callback`, verifier: newSecret() };
  await redeem(deps, row, { found, usesPkce, flight, code: newSecret() }).catch((error: unknown) => {
    if (!(error instanceof AppError) || error.code !== 'SSO_AUTH_FAILED') throw error;
  });
}

/** RFC 6749, section 4.1.3, with RFC 7636. The provider's words about a failure are shown nowhere. */
async function redeem(deps: SsoDeps, row: ConnectionRow, { found, usesPkce, flight, code }: Redeeming) {
  const { clientId = '' } = membersOf(row);
  const authMethod = methodOf(found, { wanted: null, hasSecret: true });
  const client = { clientId, authMethod, clientSecret: openSecret(deps, row), privateKey: undefined };
  const form = new URLSearchParams({
    grant_type: 'authorization_code',
    code,
    redirect_uri: flight.redirectUri,
    ...(usesPkce && { code_verifier: flight.verifier }),
  });
  const request = await asClient(client, form, { audience: found.tokenEndpoint, clock: deps.clock });
  const answer = await deps.upstream.ask({ url: found.tokenEndpoint, method: 'POST', ...request });
  if (answer.failure !== undefined) throw idpBroken(answer.failure);
  const said = objectIn(answer.body);
  if (answer.status >= 500 || !said) throw idpBroken('no_tokens');
  if (said.error === 'invalid_client' || said.error === 'unauthorized_client')
    throw idpBroken('invalid_client');
  if (answer.status !== 200 || typeof said.access_token !== 'string') throw authFailed('code');
  return said;
}
