import type { Context } from '../context.ts';
import type { Check } from '../doctor/checks.ts';

const SERVER = '/.well-known/oauth-authorization-server';
const RESOURCE = '/.well-known/oauth-protected-resource';
const HELLO = JSON.stringify({
  ...{ jsonrpc: '2.0', id: 1, method: 'initialize' },
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'behest', version: '0' } },
});

/**
 * Checks what MCP asks of an MCP server or of an authorization server, as far as a stranger sees it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-06-18/basic/authorization
 */
export async function mcpChecks(context: Context, address: string): Promise<Check[]> {
  // A service that protects its own API has both documents. Its tokens are those of an authorization server.
  const { value: server } = await documentAt(context, wellKnown(address, SERVER));
  if (typeof server?.token_endpoint === 'string') return serverChecks(context, address);
  const place = wellKnown(address, RESOURCE);
  const { value: resource } = await documentAt(context, place);
  const isOfPath = resource !== undefined && isSame(resource.resource, address);
  const servers = [resource?.authorization_servers ?? []].flat().map(String);
  const named = `it names ${resource?.resource}`;
  return [
    check('resource_metadata', resource !== undefined, place, 'serve RFC 9728 metadata there'),
    check('resource', isOfPath, named, `name ${address}, byte for byte`),
    check('servers', servers.length > 0, servers.join(' ') || 'none', 'name an authorization server'),
    ...(await challengeChecks(context, address)),
    ...(servers[0] === undefined ? [] : await serverChecks(context, servers[0])),
  ];
}

/** A request without a token, with a bad one, or with one in the query is answered with a challenge. */
async function challengeChecks(context: Context, address: string): Promise<Check[]> {
  const ask = async (to: string, headers: Record<string, string> = {}) => {
    const accept = 'application/json, text/event-stream';
    const answer = await askOpenly(context, to, {
      ...{ method: 'POST', body: HELLO },
      headers: { 'content-type': 'application/json', accept, ...headers },
    });
    await answer.body?.cancel();
    const challenge = answer.headers.get('www-authenticate') ?? '';
    return {
      isRefused: answer.status === 401,
      challenge,
      told: `${answer.status} ${challenge || 'no challenge'}`,
    };
  };
  const query = new URL(address);
  query.searchParams.set('access_token', 'not-a-token');
  const none = await ask(address);
  const bad = await ask(address, { authorization: 'Bearer not-a-token' });
  const inQuery = await ask(query.href);
  const isNamed = /resource_metadata="[^"]+"/.test(none.challenge);
  const isInvalid = bad.isRefused && bad.challenge.includes('error="invalid_token"');
  return [
    check('no_token', none.isRefused, none.told, 'answer 401'),
    check('challenge', isNamed, none.told, 'name resource_metadata in WWW-Authenticate'),
    check('bad_token', isInvalid, bad.told, 'answer 401 with error="invalid_token"'),
    check('token_in_query', inQuery.isRefused, inQuery.told, 'read tokens from the header alone'),
  ];
}

async function serverChecks(context: Context, issuer: string): Promise<Check[]> {
  const place = wellKnown(issuer, SERVER);
  const { value: found } = await documentAt(context, place);
  if (!found) return [check('server_metadata', false, place, 'serve RFC 8414 metadata there')];
  const openid = await documentAt(context, wellKnown(issuer, '/.well-known/openid-configuration'));
  const listed = (name: string) => [found[name] ?? []].flat().map(String);
  const [methods, grants] = [listed('code_challenge_methods_supported'), listed('grant_types_supported')];
  const hasPkce = methods.includes('S256') && !methods.includes('plain');
  const open = Object.entries(found).filter(
    ([name, at]) => /_endpoint$|^jwks_uri$/.test(name) && !isSafe(String(at)),
  );
  const isOpenidClear = openid.status === 404 || openid.value !== undefined;
  return [
    check('server_metadata', true, place, ''),
    check(
      'issuer',
      isSame(found.issuer, issuer),
      `it names ${found.issuer}`,
      `name ${issuer}, byte for byte`,
    ),
    check('openid', isOpenidClear, `OpenID discovery answers ${openid.status}`, 'answer 404, or a document'),
    check('pkce', hasPkce, methods.join(' ') || 'none', 'offer S256 alone'),
    check(
      'grants',
      grants.includes('authorization_code'),
      grants.join(' ') || 'none',
      'offer authorization_code',
    ),
    check(
      'iss',
      found.authorization_response_iss_parameter_supported === true,
      'RFC 9207',
      'send iss, and say so',
    ),
    offer('client_documents', found.client_id_metadata_document_supported === true),
    offer('registration', typeof found.registration_endpoint === 'string'),
    check('https', open.length === 0, open.map(([name]) => name).join(' ') || 'every endpoint', 'use https'),
  ];
}

const check = (id: string, isGood: boolean, detail: string, fix: string): Check => ({
  ...{ id, detail, result: isGood ? 'ok' : 'fail', fix: isGood ? '' : fix },
});

/** Clients can do without one of them. */
const offer = (id: string, isThere: boolean): Check => ({
  ...{ id, result: isThere ? 'ok' : 'warn', detail: isThere ? 'offered' : 'not offered' },
  fix: isThere ? '' : 'offer it, or clients that nobody registered connect otherwise',
});

const isSame = (named: unknown, address: string) => named === address || named === address.replace(/\/$/, '');

/** The well-known path comes before the path of the address. */
function wellKnown(address: string, path: string): string {
  const { origin, pathname } = new URL(address);
  return `${origin}${path}${pathname === '/' ? '' : pathname}`;
}

function isSafe(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { protocol, hostname } = new URL(address);
  return protocol === 'https:' || /^(localhost|127\.0\.0\.1|\[::1\])$/.test(hostname);
}

/** Asks an address without a credential of the account, and follows no redirect. */
export function askOpenly(context: Context, address: string, init: RequestInit = {}): Promise<Response> {
  return context.exchange.fetchWith(undefined)(address, {
    ...init,
    headers: { accept: 'application/json', ...Object(init.headers) },
    redirect: 'manual',
    signal: AbortSignal.timeout(context.globals.timeout ?? 10_000),
  });
}

/** @returns the status, and the JSON object that came with a good one */
async function documentAt(context: Context, address: string) {
  const answer = await askOpenly(context, address);
  const value: unknown = await answer.json().catch(() => undefined);
  const isDocument = answer.ok && typeof value === 'object' && value !== null;
  return { status: answer.status, value: isDocument ? Object.fromEntries(Object.entries(value)) : undefined };
}
