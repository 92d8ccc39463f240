import { JsonError, parseJson } from '@behest/protocol/json';
import type { Egress, EgressAnswer } from '../../../platform/egress/egress.ts';
import { acceptUrl } from '../../../platform/egress/urls.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { findDeveloperName } from '../../accounts/developers/developers.queries.ts';
import { openClient } from './client.ts';
import {
  challengeIn,
  type Found,
  metadataUrls,
  namesResource,
  readMetadata,
  textsIn,
  writtenFound,
} from './found.rules.ts';
import { findClientAcrossTenants } from './providers.repo.ts';
import { writtenUrls } from './providers.rules.ts';
import type { ClientDocument, ProviderSettings } from './providers.schema.ts';
import { metadataDocument } from './registration.ts';
import { documentUrlOf, type ProviderDeps, redirectUriOf } from './show.ts';

const MAX_FETCHES = 6;

/** The refusal of metadata that cannot be used. */
export const discoveryFailed = (step: string, reason: string, more: object = {}) =>
  new AppError('DISCOVERY_FAILED', 'The metadata that the upstream publishes cannot be used.', {
    step,
    reason,
    ...more,
  });

/** @throws BAD_REQUEST, which repeats no address */
export function mustBeCallable({ rules }: Egress, settings: ProviderSettings): void {
  for (const [name, url] of writtenUrls(settings)) {
    if (isPlainUrl(url, rules)) continue;
    const message = 'Send an absolute `https` URL of a public host, without user name, password or fragment.';
    throw badField(name, 'not_allowed', message);
  }
}

const isPlainUrl = (url: string, rules: Egress['rules']) =>
  url.length <= 2048 && acceptUrl(url, rules) !== undefined;

/** Finds out where and how an upstream gives tokens. @throws DISCOVERY_FAILED, UPSTREAM_ERROR */
export async function discover(upstream: Egress, settings: ProviderSettings): Promise<Found> {
  if (settings.kind === 'oauth2' && settings.issuer === null) return writtenFound(settings);
  const reader = documentReader(upstream);
  if (settings.mcpUrl === null)
    return withSafeUrls(upstream, await metadataOf(reader, settings, settings.issuer ?? ''));
  const resource = await protectedResource(reader, settings.mcpUrl);
  const issuer = serverOf(resource.servers, settings.issuer);
  const found = await metadataOf(reader, settings, issuer);
  const asked = resource.scopes.filter((scope) => scope !== 'offline_access');
  return withSafeUrls(upstream, {
    ...found,
    resource: resource.name,
    defaultScopes: [...asked, ...found.defaultScopes],
  });
}

type Reader = ReturnType<typeof documentReader>;

/** Reads documents, so many at most: each may name the next. */
function documentReader(upstream: Egress) {
  let fetches = 0;
  async function ask(
    step: string,
    request: Parameters<Egress['ask']>[0],
  ): Promise<Extract<EgressAnswer, { status: number }>> {
    fetches += 1;
    if (fetches > MAX_FETCHES) throw discoveryFailed(step, 'too_many');
    const answer = await upstream.ask(request);
    if (answer.failure === undefined) return answer;
    if (answer.failure === 'blocked_address' || answer.failure === 'too_large') {
      throw discoveryFailed(step, answer.failure);
    }
    const details = { service: 'provider', step, reason: answer.failure };
    throw new AppError('UPSTREAM_ERROR', 'The upstream did not answer.', details);
  }
  return {
    ask,
    /** @returns undefined unless the answer is an object with status 200 */
    async read(step: string, url: string) {
      const answer = await ask(step, { url, method: 'GET', headers: { accept: 'application/json' } });
      return answer.status === 200 ? objectIn(answer.body) : undefined;
    },
  };
}

/** @returns undefined for anything but a JSON object */
export function objectIn(body: Buffer): Readonly<Record<string, unknown>> | undefined {
  try {
    const value = parseJson(body);
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? { ...value } : undefined;
  } catch (error) {
    if (error instanceof JsonError) return undefined;
    throw error;
  }
}

/** @see RFC 8414, section 3.3: the issuer in the document is the one that was asked for, byte for byte */
async function metadataOf(reader: Reader, settings: ProviderSettings, issuer: string): Promise<Found> {
  for (const url of metadataUrls(issuer)) {
    const metadata = await reader.read('metadata', url);
    if (!metadata) continue;
    if (metadata.issuer !== issuer) throw discoveryFailed('metadata', 'issuer_mismatch');
    const found = readMetadata(settings, issuer, metadata);
    if ('step' in found) throw discoveryFailed(found.step, found.reason);
    return found;
  }
  throw discoveryFailed('metadata', 'metadata');
}

/** @see RFC 9728, and the authorization chapter of MCP 2026-07-28 */
async function protectedResource(reader: Reader, mcpUrl: string) {
  const step = 'resource_metadata';
  const answer = await reader.ask('resource', {
    url: mcpUrl,
    method: 'POST',
    headers: { accept: 'application/json, text/event-stream', 'content-type': 'application/json' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} }),
  });
  if (answer.status !== 401) throw discoveryFailed('resource', 'no_authorization');
  const challenge = challengeIn(String(answer.headers['www-authenticate'] ?? ''));
  const { origin, pathname } = new URL(mcpUrl);
  const named = challenge.resource_metadata;
  if (named !== undefined && (!URL.canParse(named) || new URL(named).origin !== origin)) {
    throw discoveryFailed(step, 'resource_metadata');
  }
  const wellKnown = `${origin}/.well-known/oauth-protected-resource`;
  const path = pathname.replace(/\/$/, '');
  const urls = named === undefined ? [...(path === '' ? [] : [wellKnown + path]), wellKnown] : [named];
  for (const url of urls) {
    const document = await reader.read(step, url);
    if (!document) continue;
    if (!namesResource(document.resource, mcpUrl)) throw discoveryFailed(step, 'resource_mismatch');
    const scopes = challenge.scope?.split(' ').filter(Boolean) ?? textsIn(document.scopes_supported);
    return { name: String(document.resource), servers: textsIn(document.authorization_servers), scopes };
  }
  throw discoveryFailed(step, 'resource_metadata');
}

/** One server, or the one among several that the developer chose. */
function serverOf(servers: readonly string[], chosen: string | null): string {
  const [only] = servers;
  if (chosen !== null && servers.includes(chosen)) return chosen;
  if (chosen === null && only !== undefined && servers.length === 1) return only;
  throw discoveryFailed('authorization_servers', 'several_servers', { servers: servers.slice(0, 10) });
}

/** The hosts of one document may differ, and each has to be callable by itself. */
function withSafeUrls({ rules }: Egress, found: Found): Found {
  const urls = [
    found.authorizationEndpoint,
    found.tokenEndpoint,
    found.revocationEndpoint,
    found.userinfoEndpoint,
    found.parEndpoint,
    found.jwksUri,
    found.registrationEndpoint,
  ];
  if (urls.some((url) => url !== null && !isPlainUrl(url, rules))) {
    throw discoveryFailed('endpoints', 'blocked_address');
  }
  return found;
}

/** @throws NOT_FOUND for a client that the upstream knows by other means */
export async function clientMetadata(deps: ProviderDeps, id: string): Promise<ClientDocument> {
  const row = await findClientAcrossTenants(deps.db, id);
  if (!row) throw notFound();
  const { developerId, authMethod } = row;
  const developerName = await findDeveloperName(deps.db, { developerId });
  const privateKey = openClient(deps.vault, row)?.privateKey;
  const documentUrl = documentUrlOf(deps, id);
  return metadataDocument({
    documentUrl,
    developerName,
    redirectUri: redirectUriOf(deps, id),
    authMethod,
    privateKey,
  });
}
