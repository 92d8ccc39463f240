import { createServer } from 'node:http';
import { Behest } from '@behest/sdk';
import { protectMcp } from '@behest/sdk/mcp';
import { describe, expect, onTestFinished, test } from 'vitest';
import { newMachine, useAccount } from './program.ts';

const acme = useAccount();

async function served(handler: Parameters<typeof createServer>[1]): Promise<string> {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${Object(server.address()).port}`;
}

const resultsIn = (out: string) =>
  Object.fromEntries(JSON.parse(out).map(({ id, result }: Record<string, string>) => [id, result]));

describe('oauth mcp-check', () => {
  test('finds no fault at this service, and none at a server that the SDK protects', async () => {
    const { run } = newMachine();
    const behest = new Behest({ apiKey: acme.apiKey, baseUrl: acme.url, allowSandbox: true });
    let resource = '';
    const origin = await served((request, response) =>
      protectMcp(() => undefined, {
        ...{ behest, resource, authorizationServer: acme.url, connector: 'crm', scopes: ['crm:read'] },
      })(request, response),
    );
    resource = `${origin}/mcp`;

    const service = await run(['oauth', 'mcp-check', acme.url, '--json']);
    const server = await run(['oauth', 'mcp-check', resource, '--json']);

    expect(resultsIn(service.out)).toMatchObject({
      server_metadata: 'ok',
      issuer: 'ok',
      pkce: 'ok',
      iss: 'ok',
    });
    expect(Object.entries(resultsIn(service.out)).filter(([, result]) => result === 'fail')).toEqual([]);
    expect(service.code).toBe(0);
    expect(resultsIn(server.out)).toMatchObject({
      ...{ resource_metadata: 'ok', resource: 'ok', servers: 'ok', no_token: 'ok', challenge: 'ok' },
      ...{ bad_token: 'ok', token_in_query: 'ok', server_metadata: 'ok' },
    });
    expect(server.code).toBe(0);
  });

  test('fails for a server that lets strangers in', async () => {
    const address = await served((_, response) => response.end('{}'));

    const { code, out } = await newMachine().run(['oauth', 'mcp-check', `${address}/mcp`, '--json']);

    expect(code).toBe(1);
    expect(resultsIn(out)).toMatchObject({
      resource: 'fail',
      servers: 'fail',
      no_token: 'fail',
      bad_token: 'fail',
    });
    expect((await newMachine().run(['oauth', 'mcp-check', 'crm'])).code).toBe(2);
  });
});

test('oauth register, device and introspect speak to the endpoints, and say what they refuse', async () => {
  const { run } = acme.signedIn();

  const made = await run([
    'oauth',
    'register',
    '--name',
    'C',
    '--redirect-uri',
    'http://localhost/cb',
    '--json',
  ]);
  const bad = await run(['oauth', 'register', '--name', 'C', '--redirect-uri', 'javascript:alert(1)']);
  const agent = (
    await run(['agents', 'register', '--name', 'TV', '--scopes', 'a:read', '-o', 'id'])
  ).out.trim();
  await run([
    'oauth',
    'client',
    'put',
    agent,
    '--redirect-uris',
    'http://localhost/cb',
    '--auth-method',
    'none',
  ]);
  const shown = await run(['oauth', 'device', '--client-id', agent, '--scope', 'a:read', '--json']);
  const stranger = await run(['oauth', 'device', '--client-id', 'ag_none', '--scope', 'a:read']);
  const unknown = await run(['oauth', 'introspect', '--stdin', '--json'], { input: 'x.y.z' });

  expect(JSON.parse(made.out)).toMatchObject({ client_id: expect.stringMatching(/^dcr_/), client_name: 'C' });
  expect(made.err).toContain('shown once');
  expect(bad).toMatchObject({ code: 9, err: expect.stringContaining('(invalid_redirect_uri)') });
  expect(JSON.parse(shown.out)).toMatchObject({
    user_code: expect.stringMatching(/^\w{4}-\w{4}$/),
    interval: 5,
  });
  expect(stranger).toMatchObject({ code: 3, err: expect.stringContaining('invalid_client') });
  expect(unknown).toEqual({ code: 1, out: '{\n  "active": false\n}\n', err: '' });
});

test('oauth device --wait polls at the pace that the service asks for, until the person has decided', async () => {
  const answers = [
    {
      device_code: 'd',
      user_code: 'BCDF-GHJK',
      verification_uri: 'https://auth.example/device',
      interval: 0.01,
    },
    { error: 'authorization_pending' },
    { access_token: 'a.b.c', token_type: 'Bearer' },
  ];
  const fetch = async () => {
    const answer = answers.shift() ?? {};
    return Response.json(answer, { status: 'error' in answer ? 400 : 200 });
  };

  const { code, out, err } = await newMachine().run(
    ['oauth', 'device', '--client-id', 'ag_1', '--wait', '--json'],
    { fetch },
  );

  expect(code).toBe(0);
  expect(JSON.parse(out)).toEqual({ access_token: 'a.b.c', token_type: 'Bearer' });
  expect(err).toBe('The person enters BCDF-GHJK at https://auth.example/device\n');
});

test('domains verify --wait looks until the record is there, and no longer than it was told', async () => {
  const { run } = newMachine({ BEHEST_API_KEY: 'bh_test_1' });
  const missing = { code: 'VERIFICATION_FAILED', message: 'The DNS record was not found.' };
  const asking = (...bodies: object[]) => ({
    fetch: async () => {
      const body = bodies.shift() ?? missing;
      return Response.json(body, { status: 'code' in body ? 400 : 200 });
    },
  });
  const verify = ['domains', 'verify', 'dom_1', '--every', '0', '--json'];

  const found = await run([...verify, '--wait'], asking(missing, missing, { verified: true, message: 'ok' }));
  const once = await run(verify, asking());

  expect(JSON.parse(found.out)).toEqual({ verified: true, message: 'ok' });
  expect(found.err).toBe('The record is not there yet.\n'.repeat(2));
  expect(once).toMatchObject({ code: 9, err: expect.stringContaining('VERIFICATION_FAILED') });
  expect((await run(['domains', 'verify', 'dom_1', '--for', 'long'])).code).toBe(2);
});

test('the page of a decision is named where no browser opens', async () => {
  const { run } = acme.signedIn();
  const answer = (body: object, status = 200) => ({ fetch: async () => Response.json(body, { status }) });

  const opened = await run(
    ['decisions', 'open', 'dec_1'],
    answer({ url: 'ftp://auth.example/decisions/dec_1' }),
  );
  expect(opened).toMatchObject({
    code: 8,
    err: expect.stringContaining('The address is ftp://auth.example/'),
  });
  expect((await run(['decisions', 'open', 'dec_none'])).code).toBe(5);
});
