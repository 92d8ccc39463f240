import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { authorize, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { type NameServer, startNameServer } from '../../../../test/app/name-server.ts';
import { send } from '../../../../test/app/repeating.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { systemCaller } from '../../../platform/caller.ts';
import { txtReader } from '../../../platform/egress/dns.ts';
import { deleteForgotten } from './manage.ts';
import { checkDomains, verifyDomain } from './verify.ts';

const DAY = 86_400;

let dns: NameServer;
beforeAll(async () => {
  dns = await startNameServer();
});
afterAll(() => dns.close());

const start = (env: Record<string, string> = {}) => startApp({ env: { DNS_RESOLVERS: dns.address, ...env } });

const add = async (acme: Developer, domain: string) => (await acme('POST', '/v1/domains', { domain })).json();
const verify = (acme: Developer, id: string) => acme('POST', `/v1/domains/${id}/verify`, {});
const publish = (domain: string, ...texts: string[]) => dns.records.set(`_behest-challenge.${domain}`, texts);

/** A domain that the developer has verified. */
async function verified(acme: Developer, domain: string) {
  const added = await add(acme, domain);
  publish(domain, added.verificationToken);
  expect((await verify(acme, added.id)).statusCode).toBe(200);
  return added;
}

describe('a domain', () => {
  test('is registered with the record that proves it', async () => {
    const { asDeveloper, clock } = await start();
    const acme = await asDeveloper();

    const answer = await acme('POST', '/v1/domains', { domain: ' Login.MÜNCHEN.test. ' });

    const token = expect.stringMatching(/^behest-verify-[A-Za-z0-9_-]{43}$/);
    const dnsRecord = { type: 'TXT', name: '_behest-challenge.login.xn--mnchen-3ya.test', value: token };
    const domain = {
      id: expect.stringMatching(/^dom_/),
      domain: 'login.xn--mnchen-3ya.test',
      verified: false,
      status: 'pending',
      verifiedAt: null,
      lastCheckedAt: null,
      createdAt: clock().toISOString(),
      dnsRecord,
      verificationToken: token,
    };
    expect([answer.statusCode, answer.json()]).toEqual([
      201,
      { ...domain, instructions: expect.stringContaining(dnsRecord.name) },
    ]);
    const { id } = answer.json();
    expect((await acme('GET', `/v1/domains/${id}`)).json()).toEqual(domain);
    expect((await acme('GET', '/v1/domains')).json()).toEqual({ domains: [domain], nextCursor: null });
    expect(refusalOf(await acme('POST', '/v1/domains', { domain: 'login.münchen.test' }))).toBe(
      '409 CONFLICT',
    );
  });

  test.each([
    '10.0.0.1',
    '[::1]',
    '0x7f.1',
    '*.acme.com',
    'acme.com:443',
    'https://acme.com',
    'acme.com/path',
    'a@acme.com',
    'acme',
    'co.uk',
    'github.io',
    'acme..com',
    '-a.acme.com',
    'a_b.acme.com',
    `${'a'.repeat(64)}.com`,
    `${'a.'.repeat(126)}com`,
    'auth.test',
    'acme.com\r\nx',
    '',
    ' ',
  ])('is not %j', async (domain) => {
    const { asDeveloper } = await start();

    expect(refusalOf(await (await asDeveloper())('POST', '/v1/domains', { domain }))).toBe('400 BAD_REQUEST');
  });

  test('is one of so many as the plan includes, also when they come at once', async () => {
    const { asDeveloper } = await start({ PLAN_FREE_DOMAINS: '1' });
    const acme = await asDeveloper();
    const names = Array.from({ length: 5 }, (_, at) => `d${at}.acme.test`);

    const answers = await Promise.all(names.map((domain) => acme('POST', '/v1/domains', { domain })));

    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([201, 402, 402, 402, 402]);
    const refused = answers.find(({ statusCode }) => statusCode === 402);
    expect(refused?.json().details).toEqual({ limit: 1, plan: 'free', resource: 'domains', current: 1 });
    const [{ id }] = (await acme('GET', '/v1/domains')).json().domains;
    await acme('DELETE', `/v1/domains/${id}`);
    expect((await acme('POST', '/v1/domains', { domain: 'again.acme.test' })).statusCode).toBe(201);
  });
});

describe('P5: the verification of a domain', () => {
  test('finds the token among the records, also one in pieces, and says so once', async () => {
    const { asDeveloper } = await start();
    const acme = await asDeveloper();
    const { id, verificationToken } = await add(acme, 'found.test');
    publish('found.test', 'v=spf1 -all', verificationToken);

    const answer = await verify(acme, id);
    const again = await verify(acme, id);

    const body = { verified: true, message: expect.any(String) };
    expect([answer.statusCode, answer.json()]).toEqual([200, body]);
    expect([again.statusCode, again.json()]).toEqual([200, body]);
    const shown = (await acme('GET', `/v1/domains/${id}`)).json();
    expect(shown).toMatchObject({ verified: true, status: 'verified', verifiedAt: expect.any(String) });
    expect(shown.verificationToken).toBeUndefined();
    expect(await entriesOf(acme, 'domain.verified')).toMatchObject([
      { metadata: { domainId: id, domain: 'found.test' } },
    ]);
  });

  test.each([
    ['no_record', 0, () => {}],
    ['other_value', 2, () => publish('wrong.test', 'behest-verify-of-another', 'secret of another service')],
    ['no_answer', 0, () => void dns.silent.add('_behest-challenge.wrong.test')],
  ])('fails with the reason %s, and shows no record', { timeout: 20_000 }, async (reason, found, arrange) => {
    const { asDeveloper } = await start();
    const acme = await asDeveloper();
    const { id } = await add(acme, 'wrong.test');
    dns.records.delete('_behest-challenge.wrong.test');
    arrange();
    onTestFinished(() => void dns.silent.clear());

    const answer = await verify(acme, id);

    expect(refusalOf(answer)).toBe(`400 VERIFICATION_FAILED ${reason}`);
    expect(answer.json().details).toEqual({ name: '_behest-challenge.wrong.test', found, reason });
    expect(answer.body).not.toContain('another');
  });

  test('is answered as before when it comes again with its `Idempotency-Key`, and runs again after a refusal', async () => {
    const service = await start();
    const acme = await service.asDeveloper();
    const { id, verificationToken } = await add(acme, 'repeated.test');
    const url = `/v1/domains/${id}/verify`;
    const again = () => send(service, { apiKey: acme.apiKey, url, body: {} });

    const refused = await again();
    publish('repeated.test', verificationToken);
    const [first, second] = [await again(), await again()];

    expect(refusalOf(refused)).toContain('400 VERIFICATION_FAILED');
    expect([first.statusCode, second.body]).toEqual([200, first.body]);
    expect(second.headers['idempotency-replayed']).toBe('true');
    expect(await entriesOf(acme, 'domain.verified')).toHaveLength(1);
  });

  test('needs a domain of the developer', async () => {
    const { asDeveloper } = await start();
    const [acme, other] = [await asDeveloper(), await asDeveloper()];
    const { id, verificationToken } = await add(acme, 'foreign.test');
    publish('foreign.test', verificationToken);

    expect(refusalOf(await verify(other, id))).toBe('404 NOT_FOUND');
    expect(refusalOf(await verify(acme, 'dom_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'))).toBe('404 NOT_FOUND');
    expect(refusalOf(await verify(acme, 'nothing'))).toBe('404 NOT_FOUND');
  });

  test('leaves a domain to its holder while the record of that stands, and no longer', async () => {
    const { asDeveloper } = await start();
    const [holder, rival] = [await asDeveloper(), await asDeveloper()];
    const held = await verified(holder, 'contested.test');
    const { id, verificationToken } = await add(rival, 'contested.test');

    publish('contested.test', held.verificationToken, verificationToken);
    expect(refusalOf(await verify(rival, id))).toBe('409 DOMAIN_CLAIMED');
    publish('contested.test', verificationToken);
    expect((await verify(rival, id)).statusCode).toBe(200);

    expect((await holder('GET', `/v1/domains/${held.id}`)).json()).toMatchObject({
      verified: false,
      status: 'lapsed',
    });
    expect(await entriesOf(holder, 'domain.lapsed')).toHaveLength(1);
    expect(refusalOf(await verify(holder, held.id))).toBe('400 VERIFICATION_FAILED other_value');
  });

  test('gives a domain to one of two developers whose records both stand', async () => {
    const { asDeveloper } = await start();
    const both = [await asDeveloper(), await asDeveloper()];
    const added = await Promise.all(both.map((each) => add(each, 'raced.test')));
    publish('raced.test', ...added.map(({ verificationToken }) => verificationToken));

    const answers = await Promise.all(both.map((each, at) => verify(each, added[at].id)));

    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 409]);
  });
});

test('P5: a domain stays with its holder when the second look at its record gets no answer', async () => {
  const { asDeveloper, db, clock } = await start();
  const [holder, rival] = [await asDeveloper(), await asDeveloper()];
  const held = await verified(holder, 'held.test');
  const { id, verificationToken } = await add(rival, 'held.test');
  const answers = [{ texts: [verificationToken] }, { failed: 'ETIMEOUT' }];
  const readTxt = async () => answers.shift() ?? { texts: [] };
  const caller = systemCaller({ developerId: rival.developerId }, { mode: 'live', plan: 'free' }, 'test');

  await expect(verifyDomain({ db, clock, readTxt }, caller, id)).rejects.toMatchObject({
    code: 'DOMAIN_CLAIMED',
  });

  expect((await holder('GET', `/v1/domains/${held.id}`)).json().status).toBe('verified');
});

describe('the answers of DELETE /v1/domains/:id', () => {
  let shared: Service;
  beforeAll(async () => {
    shared = await startApp({ isShared: true });
    return shared.stop;
  });
  const BARE = { pending: add, verified } as const;

  test.each(['pending', 'verified', 'lapsed'] as const)(
    '204 with no body for a domain that is %s, and the next time 404',
    async (status) => {
      const service = await start();
      const acme = await service.asDeveloper();
      const domain = `${status}-goes.test`;
      const { id } = await BARE[status === 'pending' ? 'pending' : 'verified'](acme, domain);
      if (status === 'lapsed') {
        publish(domain, 'another text');
        for (const _ of [1, 2, 3, 4]) {
          service.advance(DAY);
          await checkDomains({ ...service, readTxt: txtReader([dns.address]) });
        }
      }
      expect((await acme('GET', `/v1/domains/${id}`)).json().status).toBe(status);

      const answer = await acme('DELETE', `/v1/domains/${id}`);

      expect([answer.statusCode, answer.body, answer.headers['content-type']]).toEqual([204, '', undefined]);
      expect(refusalOf(await acme('DELETE', `/v1/domains/${id}`))).toBe('404 NOT_FOUND');
      expect(await entriesOf(acme, 'domain.deleted')).toHaveLength(1);
    },
  );

  test.each([
    ['that does not exist', () => 'dom_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'],
    ['of another developer', (id: string) => id],
    ['whose id has another prefix', (id: string) => id.replace('dom_', 'ag_')],
    ['whose id is in lower case', (id: string) => id.toLowerCase()],
    ['whose id is too short', (id: string) => id.slice(0, -1)],
    ['that is named in place of its id', () => 'kept-here.test'],
    ['whose id holds a quote', (id: string) => `${id}'`],
  ])('404 for a domain %s, which changes nothing', async (_, idOf) => {
    const [acme, other] = [await shared.asDeveloper(), await shared.asDeveloper()];
    const { id } = await add(acme, 'kept-here.test');

    const wrong = idOf(id);
    const caller = wrong === id ? other : acme;
    const refused = await caller('DELETE', `/v1/domains/${encodeURIComponent(wrong)}`);

    expect(refusalOf(refused)).toBe('404 NOT_FOUND');
    expect((await acme('GET', `/v1/domains/${id}`)).statusCode).toBe(200);
    expect(await entriesOf(caller, 'domain.deleted')).toEqual([]);
  });

  test.each(['no header', 'an unknown key', 'a revoked key'])('401 with %s', async (kind) => {
    const { asDeveloper, app, calling } = shared;
    const acme = await asDeveloper();
    const { id } = await add(acme, 'kept.test');
    const made = (await acme('POST', '/v1/keys', { name: 'gone' })).json();
    await acme('DELETE', `/v1/keys/${made.keyId}`);
    const url = `/v1/domains/${id}`;

    const refused =
      kind === 'no header'
        ? await app.inject({ method: 'DELETE', url })
        : await calling(kind === 'a revoked key' ? made.apiKey : 'no')('DELETE', url);

    expect(refusalOf(refused)).toBe('401 UNAUTHORIZED');
    expect((await acme('GET', url)).statusCode).toBe(200);
  });
});

describe('DELETE /v1/domains/:id', () => {
  test('answers 204 without a body, and 404 the next time', async () => {
    const { asDeveloper } = await start();
    const acme = await asDeveloper();
    const { id } = await verified(acme, 'deleted.test');

    const answer = await acme('DELETE', `/v1/domains/${id}`);

    expect([answer.statusCode, answer.body]).toEqual([204, '']);
    expect(refusalOf(await acme('DELETE', `/v1/domains/${id}`))).toBe('404 NOT_FOUND');
    expect(refusalOf(await acme('GET', `/v1/domains/${id}`))).toBe('404 NOT_FOUND');
    expect(await entriesOf(acme, 'domain.deleted')).toMatchObject([
      { metadata: { domainId: id, domain: 'deleted.test' } },
    ]);
  });

  test('answers 404 for a domain of another developer and any other id, and 401 without a key', async () => {
    const { asDeveloper, calling } = await start();
    const [acme, other] = [await asDeveloper(), await asDeveloper()];
    const { id } = await add(acme, 'kept.test');

    for (const unknown of [id, 'dom_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', 'acme.test']) {
      expect(refusalOf(await other('DELETE', `/v1/domains/${unknown}`))).toBe('404 NOT_FOUND');
    }
    expect(refusalOf(await calling('no')('DELETE', `/v1/domains/${id}`))).toBe('401 UNAUTHORIZED');
    expect((await acme('GET', `/v1/domains/${id}`)).statusCode).toBe(200);
  });
});

describe('the jobs', () => {
  const statusOf = async (acme: Developer, id: string) =>
    (await acme('GET', `/v1/domains/${id}`)).json().status;
  const check = async ({ db, clock }: Service) =>
    checkDomains({ db, clock, readTxt: txtReader([dns.address]) });

  test('let a domain lapse whose record was missing for 72 hours', async () => {
    const service = await start();
    const acme = await service.asDeveloper();
    const { id, verificationToken } = await verified(acme, 'missing.test');
    publish('missing.test', 'something else');

    for (const days of [1, 1, 1]) {
      service.advance(days * DAY);
      await check(service);
      expect(await statusOf(acme, id)).toBe('verified');
    }
    publish('missing.test', verificationToken); // it is back, so the time begins again
    service.advance(DAY);
    await check(service);
    publish('missing.test');
    for (let day = 0; day < 3; day += 1) {
      service.advance(DAY);
      await check(service);
      expect(await statusOf(acme, id)).toBe('verified');
    }
    service.advance(DAY);
    await check(service);

    expect(await statusOf(acme, id)).toBe('lapsed');
    expect(await entriesOf(acme, 'domain.lapsed')).toHaveLength(1);
  });

  test('delete a registration that nobody verified in 30 days', async () => {
    const { asDeveloper, advance, db, clock } = await start();
    const acme = await asDeveloper();
    const { id } = await add(acme, 'forgotten.test');
    advance(30 * DAY - 1);
    await deleteForgotten({ db, clock });
    expect(await statusOf(acme, id)).toBe('pending');

    advance(1);
    await deleteForgotten({ db, clock });

    expect((await acme('GET', `/v1/domains/${id}`)).statusCode).toBe(404);
  });
});

describe('a verified domain', () => {
  test('is free for others when its account is closed', async () => {
    const { asDeveloper } = await start();
    const [acme, other] = [await asDeveloper(), await asDeveloper()];
    await verified(acme, 'closed.test');

    expect((await acme('POST', '/v1/me/close', { confirm: acme.developerId })).statusCode).toBe(202);

    await verified(other, 'closed.test');
  });

  test('serves the consent page and its calls, and no other host does', async () => {
    const { asDeveloper, app } = await start({ CUSTOM_DOMAIN_PAGES: 'true' });
    const acme = await asDeveloper({ mode: 'sandbox' });
    await verified(acme, 'consent.acme-pages.test');
    const { agentId } = await registerAgent(acme);

    const { authRequestId, consentUrl } = await authorize(acme, agentId, { autoApprove: false });
    const open = (host: string) =>
      app.inject({
        method: 'POST',
        url: `/v1/consent/${authRequestId}/session`,
        headers: { host, origin: `https://${host}`, 'sec-fetch-site': 'same-origin' },
        body: { ticket: new URL(consentUrl).hash.replace('#ticket=', '') },
      });

    expect(consentUrl).toMatch(/^https:\/\/consent\.acme-pages\.test\/consent\?req=/);
    expect((await open('evil.test')).statusCode).toBe(403);
    expect((await open('consent.acme-pages.test')).statusCode).toBeLessThan(300);
    const host = 'consent.acme-pages.test';
    expect((await app.inject({ url: '/.well-known/jwks.json', headers: { host } })).statusCode).toBe(200);
  });

  test('W3: has neither the console nor the page on which approvers decide, and none of its calls', async () => {
    const { asDeveloper, app } = await start({ CUSTOM_DOMAIN_PAGES: 'true' });
    const acme = await asDeveloper({ mode: 'sandbox' });
    await verified(acme, 'consent.acme-pages.test');
    const ask = async (method: 'GET' | 'POST', url: string, host: string) => {
      const headers = { host, origin: `https://${host}`, 'sec-fetch-site': 'same-origin' };
      return (await app.inject({ method, url, headers, ...(method === 'POST' && { body: {} }) })).statusCode;
    };
    const calls = [
      ['GET', '/console', 200],
      ['GET', '/console/agents', 200],
      ['GET', '/approve', 200],
      ['GET', '/approve/approve.js', 200],
      ['POST', '/v1/approver/session/options', 200],
      ['POST', '/v1/approver/enrol/options', 400],
      ['GET', '/v1/approver/session', 401],
      ['GET', '/v1/approver/decisions', 401],
      ['GET', '/v1/approver/events', 401],
    ] as const;
    const forms = ['', ':443', '.', '.:443'].map((end) => `consent.acme-pages.test${end}`);

    for (const [method, url, status] of calls) {
      for (const host of [...forms, 'Consent.Acme-Pages.TEST']) {
        expect([url, host, await ask(method, url, host)]).toEqual([url, host, 404]);
      }
      expect([url, await ask(method, url, 'auth.test')]).toEqual([url, status]); // the control
    }
    expect(await ask('GET', '/consent', forms[0] ?? '')).toBe(200);
  });
});
