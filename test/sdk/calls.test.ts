import { setImmediate } from 'node:timers/promises';
import {
  Behest,
  BehestNotFoundError,
  BehestTokenError,
  BehestValidationError,
  type CallLine,
  generatePkce,
} from '@behest/sdk';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { startListening } from '../../apps/server/test/app/listening.ts';

let service: Awaited<ReturnType<typeof startListening>>;
beforeAll(async () => {
  service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
});
afterAll(async () => {
  service?.app.server.closeAllConnections();
  await service?.stop();
});

/** The client of a new sandbox account, where nobody has to consent. */
async function newClient(more: object = {}) {
  const account = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url });
  const behest = new Behest({ apiKey: account.apiKey, baseUrl: service.url, allowSandbox: true, ...more });
  return { behest, account };
}

async function newGrant(behest: Behest, scopes = ['calendar:read']) {
  const agent = await behest.agents.register({ name: 'Travel booker', description: 'Books.', scopes });
  const { codeVerifier, ...challenge } = generatePkce();
  const { code = '' } = await behest.authorize({
    agentId: agent.id,
    userId: 'user_42',
    scopes,
    ...challenge,
  });
  const tokens = await behest.tokens.exchange({ code, agentId: agent.id, codeVerifier });
  return { agent, ...tokens };
}

describe('a grant', () => {
  test('is asked for, exchanged, verified online and offline, refreshed, delegated and revoked', async () => {
    const { behest, account } = await newClient();
    const { agent, grantToken, grantId, refreshToken = '' } = await newGrant(behest);

    expect(await behest.tokens.verify(grantToken, { requiredScopes: ['calendar:read'] })).toMatchObject({
      valid: true,
      grantId,
    });
    const online = await behest.grants.verify(grantToken);
    const offline = await behest.verify(grantToken);
    expect(online).toEqual(offline);
    expect(offline).toMatchObject({
      principalId: 'user_42',
      developerId: account.developerId,
      agentId: agent.id,
    });
    const refreshed = await behest.tokens.refresh({ refreshToken, agentId: agent.id });
    const helper = await behest.agents.register({ name: 'Helper', scopes: ['calendar:read'] });
    const delegated = await behest.grants.delegate({
      ...{ parentGrantToken: refreshed.grantToken, subAgentId: helper.id, scopes: ['calendar:read'] },
    });
    expect((await behest.grants.get(delegated.grantId)).parentGrantId).toBe(grantId);

    expect(await behest.grants.revoke(grantId)).toBeUndefined();
    await expect(behest.grants.verify(refreshed.grantToken)).rejects.toMatchObject({
      ...{ name: 'BehestTokenError', reason: 'revoked' },
    });
    await expect(behest.grants.verify(delegated.grantToken)).rejects.toBeInstanceOf(BehestTokenError);
  });

  test('is waited for where a person has to decide', async () => {
    const { behest } = await newClient();
    const agent = await behest.agents.register({ name: 'Travel booker', scopes: ['calendar:read'] });
    const wanted = {
      agentId: agent.id,
      principalId: 'user_42',
      scopes: ['calendar:read'],
      autoApprove: false,
    };
    const [approved, denied] = [await behest.authorize(wanted), await behest.authorize(wanted)];

    await behest.authorizations.approve(approved.authRequestId);
    await behest.authorizations.deny(denied.authRequestId);

    const code = await behest.authorizations.wait(approved.authRequestId);
    expect(await behest.tokens.exchange({ code, agentId: agent.id })).toMatchObject({
      scopes: ['calendar:read'],
    });
    await expect(behest.authorizations.wait(denied.authRequestId)).rejects.toMatchObject({
      ...{ name: 'BehestDeniedError', reasonCode: 'denied' },
    });
    const waiting = behest.authorizations.wait((await behest.authorize(wanted)).authRequestId, {
      signal: AbortSignal.timeout(100),
    });
    await expect(waiting).rejects.toMatchObject({ name: 'TimeoutError' });
  });
});

test('a list is a page, and all rows of all pages', async () => {
  const { behest } = await newClient();
  for (const name of ['one', 'two', 'three', 'four', 'five']) {
    await behest.agents.register({ name });
    service.advance(1);
  }

  const page = await behest.agents.list({ limit: 2 });
  const names: string[] = [];
  for await (const { name } of behest.agents.list({ limit: 2 })) names.push(name);
  const again: string[] = [];
  for await (const { name } of page) again.push(name);

  expect(page.agents).toHaveLength(2);
  expect(Object.keys(page)).toEqual(['agents', 'nextCursor']);
  expect(names).toEqual(['five', 'four', 'three', 'two', 'one']);
  expect(again).toEqual(names);
});

describe('an error', () => {
  test('has the class of its status, the code of the registry and the id of the request', async () => {
    const { behest } = await newClient();

    const missing = await behest.agents.get('ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C').catch((error: unknown) => error);
    expect(missing).toBeInstanceOf(BehestNotFoundError);
    expect(missing).toMatchObject({ code: 'NOT_FOUND', statusCode: 404, retryable: false });
    const wrong = await behest.agents.register({ name: '' }).catch((error: unknown) => error);
    expect(wrong).toBeInstanceOf(BehestValidationError);
    expect(wrong).toMatchObject({ details: { fields: [{ path: 'name', problem: 'too_short' }] } });
    expect(Object(wrong).requestId).toMatch(/^[\w.-]+$/);
  });

  test('and a client that is looked at show no key', async () => {
    const apiKey = `bh_test_${'k'.repeat(43)}`;
    const behest = new Behest({ apiKey, baseUrl: service.url });

    const refused = await behest.me().catch((error: unknown) => error);

    const { inspect } = await import('node:util');
    const texts = [
      inspect(refused, { depth: 9 }),
      inspect(behest, { depth: 9, showHidden: true }),
      `${behest}`,
    ];
    expect(refused).toMatchObject({ name: 'BehestAuthError', code: 'UNAUTHORIZED' });
    for (const text of texts) expect(text).not.toContain('kkkk');
  });
});

test('the head of an answer is had without a race, and the last rate limit is kept', async () => {
  const { behest } = await newClient();

  const [one, other] = await Promise.all([
    behest.withResponse((calls) => calls.me()),
    behest.withResponse((calls) => calls.agents.list()),
  ]);

  expect(one.response.status).toBe(200);
  expect(one.response.requestId).not.toBe(other.response.requestId);
  expect(other.data.agents).toEqual([]);
  expect(behest.lastRateLimit).toMatchObject({ limit: expect.any(Number), remaining: expect.any(Number) });
});

test('the rate limit is kept of a refused call too', async () => {
  const { behest } = await newClient();

  await behest.agents.get('ag_01K9Z3QW5M8T2V4X6Y7Z8A9B0C').catch(() => {});

  expect(behest.lastRateLimit).toMatchObject({ limit: expect.any(Number), remaining: expect.any(Number) });
});

test('headers and logger of the client reach streams, the account, decisions and calls through the vault', async () => {
  const lines: CallLine[] = [];
  const heads: { path: string; own: string | null; agent: string | null }[] = [];
  const { behest } = await newClient({
    headers: { 'x-own': '1', authorization: 'Bearer nobody' },
    logger: (line: CallLine) => lines.push(line),
    fetch: (url: string, init: RequestInit) => {
      const sent = new Headers(init.headers);
      heads.push({ path: new URL(url).pathname, own: sent.get('x-own'), agent: sent.get('user-agent') });
      return fetch(url, init);
    },
  });
  const { grantToken } = await newGrant(behest);
  const { events } = await behest.events.list({ limit: 1 });
  lines.length = 0;
  heads.length = 0;

  await behest.verify(grantToken); // learns whose key it has
  await behest.events.stream({ lastEventId: String(events[0]?.id) }).next();
  await behest.approvals.get('dec_01K9Z3QW5M8T2V4X6Y7Z8A9B0C').catch(() => {});
  await behest.vault.fetch('github', '/repos/acme?q=1', {}, { grantToken }).catch(() => {});

  const told = lines.map(({ method, path, status }) => `${method} ${path} ${status}`);
  expect(told).toEqual([
    'GET /v1/me 200',
    'GET /v1/events/stream 200',
    'GET /v1/decisions/{id} 404',
    expect.stringMatching(/^GET \/v1\/vault\/proxy\/\{service\}\/\{path\} 40[34]$/),
  ]);
  for (const { path, own, agent } of heads.filter(({ path }) => path !== '/.well-known/jwks.json'))
    expect([path, own, agent?.slice(0, 11)]).toEqual([path, '1', '@behest/sdk']);
});

test('a rotated key replaces the old one in the client', async () => {
  const { behest, account } = await newClient();

  const { apiKey } = await behest.rotateKey({ graceSeconds: 'now' });

  expect(apiKey).not.toBe(account.apiKey);
  expect(await behest.me()).toMatchObject({ developerId: account.developerId });
  service.advance(1_000);
  await expect(new Behest({ apiKey: account.apiKey, baseUrl: service.url }).me()).rejects.toMatchObject({
    statusCode: 401,
  });
});

test('a person sees and ends what agents may do, with the session that the program opened', async () => {
  const { behest } = await newClient();
  const { grantId } = await newGrant(behest);
  const { sessionToken } = await behest.principalSessions.create({ principalId: 'user_42' });
  const person = behest.principal(sessionToken);

  const { grants } = await person.grants();
  await person.revoke(grantId);

  expect(grants).toMatchObject([{ grantId }]);
  expect((await behest.grants.get(grantId)).status).toBe('revoked');
  await person.end();
  await expect(person.grants()).rejects.toMatchObject({ statusCode: 401 });
});

test('the chain of the account is checked in this process', async () => {
  const { behest } = await newClient();
  const { agent, grantId } = await newGrant(behest);
  const about = { agentId: agent.id, agentDid: agent.did, grantId, principalId: 'user_42' };
  await behest.audit.log({ ...about, action: 'screening.run', metadata: { score: 0.5 } });

  const { entries } = await behest.audit.list({ order: 'asc' });
  const forged = entries.map((entry) => ({
    ...entry,
    ...(entry.action === 'screening.run' && { metadata: {} }),
  }));

  expect(behest.audit.verifyChain(entries)).toMatchObject({ valid: true, checkedEntries: entries.length });
  expect(behest.audit.verifyChain(forged)).toMatchObject({ valid: false, problem: 'hash_mismatch' });
});

test('an export is an object as JSON, and a response in every other form', async () => {
  const { behest } = await newClient();
  const { grantId } = await newGrant(behest);

  const exported = await behest.compliance.exportGrants();
  const asCsv = await behest.compliance.exportGrants({ format: 'csv' });

  expect(exported.grants).toMatchObject([{ grantId }]);
  expect(Object(asCsv).status).toBe(200);
  expect(await Object(asCsv).text()).toContain(grantId);
});

test('a SCIM token has a directory of its own, and an API key has none', async () => {
  const { behest } = await newClient();
  const { token } = await behest.scim.createToken({ label: 'Okta' });
  const users = behest.scim.users(token);
  for (const name of ['ada', 'bob', 'eve']) {
    await users.create({
      schemas: ['urn:ietf:params:scim:schemas:core:2.0:User'],
      userName: `${name}@acme.test`,
    });
    service.advance(1);
  }

  const names: unknown[] = [];
  for await (const user of users.list({ count: 2 })) names.push(Object(user).userName);

  expect(names.toSorted()).toEqual(['ada@acme.test', 'bob@acme.test', 'eve@acme.test']);
  await expect(behest.scim.listUsers()).rejects.toThrow('pass `scimToken`');
});

test('a resource of older clients that Behest lacks says so', async () => {
  const { behest } = await newClient();

  expect(() => behest.commerce).toThrow('"commerce" is not part of Behest.');
  expect(() => behest.dpdp).toThrow('"dpdp" is not part of Behest.');
});

test('a list whose pages are named by a Link header has the rows of all its pages', {
  timeout: 120_000,
}, async () => {
  const { behest } = await newClient();
  const { agent, grantId } = await newGrant(behest, ['payments:mpp:*']);
  const maxTransactionAmount = { amount: 5, currency: 'USD' };
  const issue = () =>
    behest.passports.issue({
      ...{ agentId: agent.id, grantId, maxTransactionAmount },
      allowedMPPCategories: ['data'],
    });
  await Promise.all(Array.from({ length: 102 }, issue));

  const page = await behest.passports.list({ agentId: agent.id });
  const ids: string[] = [];
  for await (const { passportId } of behest.passports.list({ agentId: agent.id })) ids.push(passportId);

  expect(page).toHaveLength(100);
  expect(new Set(ids).size).toBe(102);
  expect(ids.slice(0, 100)).toEqual(page.map(({ passportId }) => passportId));
});

test('a list that cannot be had fails once, awaited or iterated', async () => {
  const { behest } = await newClient();
  const stranger = new Behest({ apiKey: `bh_test_${'x'.repeat(43)}`, baseUrl: service.url });
  const unhandled: unknown[] = [];
  const note = (reason: unknown) => unhandled.push(reason);
  process.on('unhandledRejection', note);
  onTestFinished(() => void process.off('unhandledRejection', note));

  await expect(stranger.agents.list()).rejects.toMatchObject({ statusCode: 401 });
  await expect(stranger.agents.list()[Symbol.asyncIterator]().next()).rejects.toMatchObject({
    statusCode: 401,
  });
  await setImmediate();

  expect(unhandled).toEqual([]);
  expect((await behest.agents.list()).agents).toEqual([]);
});
