import { afterAll, describe, expect, test } from 'vitest';
import { besideUpstream } from '../../../../test/app/connecting.ts';
import { refusalOf } from '../../../../test/app/flow.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { challengeIn } from './found.rules.ts';

let started: Promise<Service> | undefined;
afterAll(async () => (await started)?.stop());

interface Published {
  /** The header of the 401, or null for an answer 200. */
  readonly challenge?: string | null;
  readonly resource?: object;
  readonly metadata?: object;
  /** The path of the only document about the resource. */
  readonly at?: string;
}
type Publish = (origin: string) => Published;

const WELL_KNOWN = '/.well-known/oauth-protected-resource';

/** Adds an MCP server at `/tools/mcp` that publishes this. @returns the answer, and the paths that were asked for */
async function add(publish: Publish, members: (origin: string) => object = () => ({})) {
  started ??= startApp({ ...besideUpstream(), isShared: true });
  const acme = await (await started).asDeveloper({ mode: 'sandbox' });
  const receiver = await startReceiver();
  const origin = `http://127.0.0.1:${receiver.port}`;
  const { challenge = 'Bearer', resource, metadata, at = `${WELL_KNOWN}/tools/mcp` } = publish(origin);
  const documents: Readonly<Record<string, object>> = {
    [at]: { resource: `${origin}/tools/mcp`, authorization_servers: [origin], ...resource },
    '/.well-known/oauth-authorization-server': {
      issuer: origin,
      authorization_endpoint: `${origin}/authorize`,
      token_endpoint: `${origin}/token`,
      response_types_supported: ['code'],
      code_challenge_methods_supported: ['S256'],
      ...metadata,
    },
  };
  receiver.answer(({ method, url = '' }, response) => {
    const found = documents[url];
    if (method === 'POST' && url === '/tools/mcp') {
      response.writeHead(challenge === null ? 200 : 401, { 'www-authenticate': challenge ?? '' }).end();
    } else if (found) response.setHeader('content-type', 'application/json').end(JSON.stringify(found));
    else response.writeHead(404).end();
  });
  const answer = await acme('POST', '/v1/vault/providers', {
    ...{ service: 'tools', name: 'Tools', kind: 'mcp', mcpUrl: `${origin}/tools/mcp` },
    ...{ clientId: 'behest', clientSecret: 'a secret of the client', ...members(origin) },
  });
  return { answer, asked: receiver.received.map(({ path }) => path), origin };
}

describe('an MCP server', () => {
  test.each<[string, Publish, string[]]>([
    ['with a document at its own path', () => ({}), [`${WELL_KNOWN}/tools/mcp`]],
    ['with a document at the root', () => ({ at: WELL_KNOWN }), [`${WELL_KNOWN}/tools/mcp`, WELL_KNOWN]],
    [
      'that names its document',
      (origin) => ({ at: '/meta', challenge: `Bearer resource_metadata="${origin}/meta", scope="a b"` }),
      ['/meta'],
    ],
    [
      'whose resource is a parent of its path',
      (origin) => ({ resource: { resource: `${origin}/tools` } }),
      [`${WELL_KNOWN}/tools/mcp`],
    ],
  ])('%s is added', async (_, publish, documents) => {
    const { answer, asked } = await add(publish);

    expect(answer.statusCode, answer.body).toBe(201);
    expect(answer.json()).toMatchObject({ kind: 'mcp', status: 'active', pkce: 'required' });
    expect(asked).toEqual(['/tools/mcp', ...documents, '/.well-known/oauth-authorization-server']);
  });

  test.each<[string, Publish, string]>([
    ['asks for no authorization', () => ({ challenge: null }), 'no_authorization'],
    [
      'names a document elsewhere',
      () => ({ challenge: 'Bearer resource_metadata="https://evil.example/m"' }),
      'resource_metadata',
    ],
    ['has no document', () => ({ at: '/nowhere' }), 'resource_metadata'],
    [
      'has a resource of another origin',
      () => ({ resource: { resource: 'https://evil.example/tools/mcp' } }),
      'resource_mismatch',
    ],
    [
      'has a sibling as its resource',
      (origin) => ({ resource: { resource: `${origin}/tools/mc` } }),
      'resource_mismatch',
    ],
    [
      'has a child as its resource',
      (origin) => ({ resource: { resource: `${origin}/tools/mcp/a` } }),
      'resource_mismatch',
    ],
    ['has no resource', () => ({ resource: { resource: undefined } }), 'resource_mismatch'],
    [
      'names two authorization servers',
      (origin) => ({ resource: { authorization_servers: [origin, `${origin}/b`] } }),
      'several_servers',
    ],
    ['names none', () => ({ resource: { authorization_servers: [] } }), 'several_servers'],
    [
      'does not say that it takes S256',
      () => ({ metadata: { code_challenge_methods_supported: undefined } }),
      'pkce',
    ],
    [
      'takes plain challenges alone',
      () => ({ metadata: { code_challenge_methods_supported: ['plain'] } }),
      'pkce',
    ],
    [
      'has metadata of another issuer',
      () => ({ metadata: { issuer: 'https://evil.example' } }),
      'issuer_mismatch',
    ],
    [
      'sends its people to a script',
      () => ({ metadata: { authorization_endpoint: 'javascript:alert(1)' } }),
      'blocked_address',
    ],
    ['has no token endpoint', () => ({ metadata: { token_endpoint: undefined } }), 'unsupported'],
  ])('is refused when it %s', async (_, publish, reason) => {
    expect(refusalOf((await add(publish)).answer)).toBe(`400 DISCOVERY_FAILED ${reason}`);
  });

  test('31 M5: a challenge is read once, whatever letters are in it', async () => {
    const letters = 'a'.repeat(8_000);
    const { answer } = await add((origin) => ({
      at: '/meta',
      challenge: `Bearer ${letters} ${letters}="x", resource_metadata="${origin}/meta"`,
    }));

    expect(answer.statusCode, answer.body).toBe(201);
    expect(challengeIn('a'.repeat(200_000))).toEqual({}); // minutes, if each letter began a name
    expect(challengeIn('Bearer realm="a b",scope="c", 9error="d"')).toEqual({
      realm: 'a b',
      scope: 'c',
      error: 'd',
    });
  });

  test('with several authorization servers is added with the one that the developer names', async () => {
    const publish: Publish = (origin) => ({
      resource: { authorization_servers: ['https://b.example', origin] },
    });
    const refused = await add(publish);

    expect(refusalOf(refused.answer)).toBe('400 DISCOVERY_FAILED several_servers');
    expect(refused.answer.json().details.servers).toEqual(['https://b.example', refused.origin]);
    const other = await add(publish, () => ({ issuer: 'https://c.example' }));
    expect(refusalOf(other.answer)).toBe('400 DISCOVERY_FAILED several_servers');
    expect((await add(publish, (issuer) => ({ issuer }))).answer.statusCode).toBe(201);
  });
});
