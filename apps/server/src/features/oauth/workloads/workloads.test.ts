import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { exportJWK, generateKeyPair, SignJWT } from 'jose';
import { expect, onTestFinished, test } from 'vitest';
import {
  fromFile,
  fromGitHubActions,
  refresh,
} from '../../../../../../docs/guides/examples/agent-without-a-key.ts';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { good } from '../../../../test/app/asserting.ts';
import { partsOf, refusalOf } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { newClient, pkceLink, post, REDIRECT } from '../../../../test/app/oauth.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { besideProvider } from '../../../../test/app/signing-on.ts';
import type { TestOptions } from '../../../../test/app/start-app.ts';
import { coversSubject, isSubjectPattern, issuerOf, isTrusted } from './workloads.rules.ts';

const TYPE = 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer';
const SUBJECT = 'repo:acme/app:ref:refs/heads/main';

/** A platform that gives its workloads JWTs, an agent that runs there, and a code that waits for it. */
async function startPlatform(options: TestOptions = {}) {
  const service = await startListening({ ...besideProvider(), ...options });
  const platform = await startAccountsServer();
  const [own, stranger] = [await generateKeyPair('RS256'), await generateKeyPair('RS256')];
  const keys = [{ ...(await exportJWK(own.publicKey)), kid: 'p', alg: 'RS256', use: 'sig' }];
  const { issuer } = platform;
  platform.behaviour.instead = ({ url }, respond) => {
    if (url === '/.well-known/openid-configuration') respond(200, { issuer, jwks_uri: `${issuer}/keys` });
    else if (url === '/keys') respond(200, { keys });
    else return false;
    return true;
  };
  const seconds = () => Math.floor(service.clock().getTime() / 1000);
  let made = 0;
  const jwt = (claims: object = {}, signedBy: 'own' | 'stranger' = 'own') => {
    made += 1;
    const payload = {
      ...{ iss: issuer, sub: SUBJECT, aud: service.url, iat: seconds(), exp: seconds() + 300 },
      ...{ jti: `run-${made}`, repository_id: '7', ...claims },
    };
    const key = signedBy === 'own' ? own.privateKey : stranger.privateKey;
    return new SignJWT(payload).setProtectedHeader({ alg: 'RS256', kid: 'p' }).sign(key);
  };
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { clientId } = await newClient(acme, { authMethod: 'workload_jwt' });
  const path = `/v1/agents/${clientId}/workloads`;

  async function exchange(assertion: string, client = clientId) {
    const { link, verifier } = await pkceLink(client);
    const to = new URL(link);
    const answer = await fetch(`${service.url}${to.pathname}${to.search}`, {
      redirect: 'manual',
      headers: { accept: 'text/html' },
    });
    const code = new URL(answer.headers.get('location') ?? '').searchParams.get('code') ?? '';
    return post(`${service.url}/oauth/token`, {
      ...{ grant_type: 'authorization_code', code, redirect_uri: REDIRECT, code_verifier: verifier },
      ...{ client_id: client, client_assertion_type: TYPE, client_assertion: assertion },
    });
  }
  const outcome = async (assertion: string, client?: string) => {
    const answer = await exchange(assertion, client);
    return answer.status === 200 ? '200' : String(Object(await answer.json()).error);
  };
  return { service, platform, acme, clientId, path, jwt, exchange, outcome, seconds };
}

test('M17 an agent gets tokens with a JWT of the platform that it runs on, and is no other agent', async () => {
  const { acme, platform, path, jwt, exchange, outcome, clientId, service } = await startPlatform();
  const trusted = { issuer: platform.issuer, subject: 'repo:acme/app:*', claims: { repository_id: '7' } };

  expect(await outcome(await jwt())).toBe('invalid_client'); // nobody trusts the platform yet
  const workload = await good(acme, 'POST', path, trusted);
  expect(workload).toMatchObject({
    audience: service.url,
    jwksUri: `${platform.issuer}/keys`,
    allowReuse: false,
  });
  const answer = await exchange(await jwt());
  const { access_token: token, refresh_token: refresh } = Object(await answer.json());
  expect(partsOf(token).payload.client_id).toBe(clientId);
  const refreshed = await post(`${service.url}/oauth/token`, {
    ...{ grant_type: 'refresh_token', refresh_token: refresh, client_id: clientId },
    ...{ client_assertion_type: TYPE, client_assertion: await jwt() },
  });
  expect(refreshed.status).toBe(200);
  const bare = await post(`${service.url}/oauth/token`, {
    ...{ grant_type: 'refresh_token', client_id: clientId },
    refresh_token: Object(await refreshed.json()).refresh_token,
  });
  expect(bare.status).toBe(401);

  const other = await newClient(acme, { authMethod: 'workload_jwt' });
  expect(await outcome(await jwt(), other.clientId)).toBe('invalid_client');
  const secret = await newClient(acme, { authMethod: 'client_secret_post' });
  await good(acme, 'POST', `/v1/agents/${secret.clientId}/workloads`, trusted);
  expect(await outcome(await jwt(), secret.clientId)).toBe('invalid_client'); // it says that it has a secret
  await good(acme, 'PATCH', `/v1/agents/${clientId}`, { status: 'suspended' });
  expect(await outcome(await jwt())).not.toBe('200');
  await good(acme, 'PATCH', `/v1/agents/${clientId}`, { status: 'active' });
  expect(await outcome(await jwt())).toBe('200');
  expect((await acme('DELETE', `${path}/${workload.id}`)).statusCode).toBe(204);
  expect(await outcome(await jwt())).toBe('invalid_client');
});

test('M17 a JWT of another subject, claim, audience, key or time is refused, and each good one is taken once', async () => {
  const { acme, platform, path, jwt, outcome, seconds, clientId } = await startPlatform();
  const trusted = { issuer: platform.issuer, subject: 'repo:acme/app:*', claims: { repository_id: '7' } };
  await good(acme, 'POST', path, trusted);
  const now = seconds();
  const wrong: object[] = [
    { sub: 'repo:acme/other:ref:refs/heads/main' },
    { sub: 'repo:acme/app-evil:ref' },
    { repository_id: '8' },
    { aud: 'https://other.test' },
    { aud: [`${platform.issuer}`, 'https://other.test'] },
    { iss: 'https://evil.test' },
    { exp: now },
    { exp: now + 7201 },
    { iat: now + 61, exp: now + 90 },
  ];
  for (const claims of wrong) {
    expect(`${JSON.stringify(claims)} ${await outcome(await jwt(claims))}`).toMatch(/ invalid_client$/);
  }
  expect(await outcome(await jwt({}, 'stranger'))).toBe('invalid_client');
  expect(await outcome('x.y.z')).toBe('invalid_client');

  const one = await jwt();
  expect([await outcome(one), await outcome(one)]).toEqual(['200', 'invalid_client']);
  const lasting = await jwt({ jti: undefined });
  expect([await outcome(lasting), await outcome(lasting)]).toEqual(['200', '200']); // a platform without `jti`
  const { workloads } = (await acme('GET', path)).json();
  await acme('DELETE', `${path}/${workloads[0].id}`);
  await good(acme, 'POST', path, { ...trusted, allowReuse: true });
  const file = await jwt();
  expect([await outcome(file), await outcome(file)]).toEqual(['200', '200']);
  expect(clientId).toMatch(/^ag_/);
});

test('M17 a JWT with an id is remembered to its end, and for the minute by which clocks may differ', async () => {
  // In memory, so that the memory of what was used ends by the clock of the test.
  const { acme, platform, path, jwt, outcome, service } = await startPlatform({ store: 'memory' });
  await good(acme, 'POST', path, { issuer: platform.issuer, subject: SUBJECT });
  const used = await jwt(); // for 300 seconds

  expect(await outcome(used)).toBe('200');
  for (const seconds of [61, 238]) {
    service.advance(seconds);
    expect(await outcome(used)).toBe('invalid_client');
  }
  expect(await outcome(await jwt())).toBe('200');
});

test('an agent has 20 workloads at most, and each is removed at its own agent alone', async () => {
  const { acme, platform, path, clientId } = await startPlatform();
  const add = (each: number) =>
    acme('POST', path, {
      issuer: platform.issuer,
      subject: `repo:acme/app-${each}`,
      jwksUri: `${platform.issuer}/keys`,
    });
  const { id } = (await add(1)).json();
  for (let each = 2; each <= 20; each += 1) expect((await add(each)).statusCode).toBe(201);
  const { clientId: otherId } = await newClient(acme, { authMethod: 'workload_jwt' });

  expect(refusalOf(await add(21))).toMatch(/^409 CONFLICT/);
  expect((await acme('DELETE', `/v1/agents/${otherId}/workloads/${id}`)).statusCode).toBe(404);

  expect((await acme('GET', `${path}?limit=100`)).json().workloads).toHaveLength(20);
  expect((await acme('DELETE', `/v1/agents/${clientId}/workloads/${id}`)).statusCode).toBe(204);
  expect((await add(21)).statusCode).toBe(201);
});

test('M17 a JWT of a platform is taken until the instant that it names as its end', async () => {
  const { acme, platform, path, jwt, outcome, service, seconds } = await startPlatform();
  await good(acme, 'POST', path, { issuer: platform.issuer, subject: SUBJECT, allowReuse: true });
  const exp = seconds() + 300;
  const lasting = await jwt({ exp });
  const sayAt = (milliseconds: number) => {
    service.advance((milliseconds - service.clock().getTime()) / 1000);
    expect(service.clock().getTime()).toBe(milliseconds);
    return outcome(lasting);
  };

  expect(await sayAt(exp * 1000 - 1)).toBe('200');
  expect(await sayAt(exp * 1000)).toBe('invalid_client');
});

test('M17 a JWT-SVID is that of its trust domain, and the keys of an issuer come from its own metadata', async () => {
  const { acme, platform, path, jwt, outcome } = await startPlatform();
  const svid = { issuer: 'spiffe://acme.test', jwksUri: `${platform.issuer}/keys` };
  const add = async (body: object) => refusalOf(await acme('POST', path, body));

  expect(await add({ issuer: svid.issuer, subject: 'spiffe://acme.test/agents/*' })).toBe('400 BAD_REQUEST');
  expect(await add({ ...svid, subject: 'spiffe://evil.test/agents/*' })).toBe('400 BAD_REQUEST');
  expect(await add({ ...svid, subject: '*' })).toBe('400 BAD_REQUEST');
  expect(await add({ issuer: `${platform.issuer}/`, subject: 'a' })).toMatch(/^400 DISCOVERY_FAILED/);
  expect(await add({ issuer: 'ftp://acme.test', subject: 'a' })).toMatch(/^400 DISCOVERY_FAILED/);
  await good(acme, 'POST', path, { ...svid, subject: 'spiffe://acme.test/agents/*' });
  const own = { iss: undefined, sub: 'spiffe://acme.test/agents/a' };
  expect(await outcome(await jwt(own))).toBe('200');
  expect(await outcome(await jwt({ ...own, sub: 'spiffe://evil.test/agents/a' }))).toBe('invalid_client');
  expect(await outcome(await jwt({ iss: 'spiffe://acme.test' }))).toBe('invalid_client');
});

test('the example of the guide refreshes with a file of Kubernetes, and with the address of GitHub Actions', async () => {
  const { acme, platform, path, jwt, exchange, clientId: agentId, service } = await startPlatform();
  await good(acme, 'POST', path, { issuer: platform.issuer, subject: 'repo:acme/app:*', allowReuse: true });
  const first = Object(await (await exchange(await jwt())).json());
  const folder = await mkdtemp(join(tmpdir(), 'workload-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, 'token'), `${await jwt()}\n`);
  const receiver = await startReceiver();
  const made = await jwt();
  receiver.answer((_request, response) => {
    response.setHeader('content-type', 'application/json').end(JSON.stringify({ value: made }));
  });
  const environment = {
    ACTIONS_ID_TOKEN_REQUEST_URL: `http://127.0.0.1:${receiver.port}/jwt?api-version=2`,
    ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'of-the-job',
  };
  const agent = { service: service.url, agentId, platformJwt: fromFile(join(folder, 'token')) };
  const inActions = { ...agent, platformJwt: fromGitHubActions(environment, service.url) };

  const second = await refresh(agent, String(first.refresh_token));
  const third = await refresh(agent, second.refreshToken); // the same file
  const fourth = await refresh(inActions, third.refreshToken);

  expect(partsOf(fourth.token).payload.client_id).toBe(agentId);
  const [asked] = receiver.received;
  expect(asked?.headers.authorization).toBe('Bearer of-the-job');
  expect(new URL(asked?.path ?? '', 'http://x').searchParams.get('audience')).toBe(service.url);
  await expect(refresh({ ...agent, platformJwt: async () => 'x.y.z' }, fourth.refreshToken)).rejects.toThrow(
    'The service refused: invalid_client.',
  );
});

test('M17 a pattern covers whole parts of a subject, and never everybody', () => {
  for (const bad of ['*', 'repo:acme*', 'repo:*:main', '/*', ':*', 'a**', '*a']) {
    expect(`${bad} ${isSubjectPattern(bad)}`).toBe(`${bad} false`);
  }
  for (const good of [
    'repo:acme/*',
    'spiffe://acme.test/agents/*',
    'system:serviceaccount:prod:*',
    'exact',
  ]) {
    expect(`${good} ${isSubjectPattern(good)}`).toBe(`${good} true`);
  }
  expect(coversSubject('repo:acme/*', 'repo:acme/app:ref:refs/heads/main')).toBe(true);
  expect(coversSubject('repo:acme/*', 'repo:acme-evil/app')).toBe(false);
  expect(coversSubject('repo:acme/*', 'repo:acme/')).toBe(false);
  expect(coversSubject('exact', 'exactly')).toBe(false);
});

test('a JWT-SVID is of the trust domain in its subject, whatever issuer it names', () => {
  expect(issuerOf({ sub: 'spiffe://acme.test/agents/a' })).toBe('spiffe://acme.test');
  expect(issuerOf({ sub: 'spiffe://evil.test/a', iss: 'spiffe://acme.test' })).toBe('spiffe://evil.test');
  expect(issuerOf({ sub: 'repo:acme/app', iss: 'https://ci.test' })).toBe('https://ci.test');
  expect(issuerOf({ sub: 'a' })).toBeUndefined();
});

test('M17 a JWT is good until the second of its end, and no longer than the developer allows', () => {
  const now = new Date('2026-01-01T00:00:00Z');
  const at = now.getTime() / 1000;
  const trusted = { audience: 'https://auth.test', subject: 's', claims: { ref: 'main' }, maxSeconds: 600 };
  const good = { aud: ['https://auth.test'], sub: 's', exp: at + 1, iat: at, ref: 'main' };
  const is = (changes: object) => isTrusted({ ...good, ...changes }, trusted, now);

  expect(is({})).toBe(true);
  expect(is({ exp: at })).toBe(false);
  expect(is({ exp: at + 600 })).toBe(true);
  expect(is({ exp: at + 601 })).toBe(false);
  expect(is({ exp: at + 601, iat: undefined })).toBe(false);
  expect(is({ iat: at + 61, exp: at + 90 })).toBe(false);
  expect(is({ nbf: at + 61 })).toBe(false);
  for (const aud of ['https://auth.test/', ['https://auth.test', 'x'], undefined])
    expect(is({ aud })).toBe(false);
  expect(is({ ref: 'other' })).toBe(false);
  expect(is({ ref: undefined })).toBe(false);
});
