import { describe, expect, test } from 'vitest';
import { authorize, partsOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import { startApp } from '../../../../test/app/start-app.ts';

/** A live request under the product's limits, except for the given ones. */
async function startCounting(env: Record<string, string> = {}) {
  const service = await startApp({ realLimits: true, store: 'memory', env });
  const developer = await service.asDeveloper();
  const { agentId } = await registerAgent(developer);
  const asked = await authorize(developer, agentId);
  const consentUrl = String(asked.consentUrl);
  const id = String(asked.id);

  /** Calls as a page, from the given address, with these headers. */
  const callFrom =
    (remoteAddress: string) =>
    (path: string, body?: object, headers: object = {}) =>
      service.app.inject({
        method: body ? 'POST' : 'GET',
        url: `/v1/consent/${path}`,
        remoteAddress,
        headers: { ...headers },
        ...(body && { body }),
      });
  return { service, consentUrl, id, stranger: callFrom('203.0.113.9') };
}

const wrongTicket = { ticket: 'A'.repeat(43) };

describe('O23: a stranger who knows only the id of a request', () => {
  test('is counted by address alone, and the person opens the page at once', async () => {
    const { service, consentUrl, id, stranger } = await startCounting();
    const strange = [
      () => stranger(id),
      () => stranger(`${id}/session`, wrongTicket),
      () => stranger(`${id}/approve`, {}, { cookie: `__Host-bh_consent_${id}=${'A'.repeat(43)}` }),
      () => stranger(`${id}/deny`, {}),
    ];
    const statuses: number[] = [];
    for (let times = 0; times < 200; times += 1)
      statuses.push((await strange[times % strange.length]?.())?.statusCode ?? 0);

    expect(statuses.slice(0, 4)).toEqual([401, 404, 401, 401]);
    expect(statuses.indexOf(429)).toBe(120);
    expect(new Set(statuses.slice(120))).toEqual(new Set([429]));
    const refused = await stranger(id);
    expect(refused.json().details).toMatchObject({ rule: 'consent', limit: 120 });
    const person = personOn(service);
    expect((await person.open(consentUrl)).headers).toMatchObject({
      'x-ratelimit-limit': '30',
      'x-ratelimit-remaining': '29',
    });
    expect((await person.see(id)).statusCode).toBe(200);
  });

  test('is counted by address alone for mailed codes too', async () => {
    const { service, consentUrl, id, stranger } = await startCounting();
    const statuses: number[] = [];
    for (let times = 0; times < 125; times += 1)
      statuses.push((await stranger(`${id}/email${times % 2 ? '/verify' : ''}`, {})).statusCode);

    expect(statuses.indexOf(429)).toBe(120);
    const person = personOn(service);
    await person.open(consentUrl);
    const sent = await person.call('POST', `/v1/consent/${id}/email`, { body: {} });
    expect(sent.statusCode).toBe(409); // this developer has no mail, and the request was let through
    expect(sent.headers).toMatchObject({ 'x-ratelimit-limit': '5', 'x-ratelimit-remaining': '4' });
  });
});

describe('the holder of the ticket or the cookie', () => {
  test('is counted by request, whichever of the two is shown', async () => {
    const { service, consentUrl, id } = await startCounting({ RATE_LIMIT_CONSENT: '4' });
    const person = personOn(service);

    const statuses = [];
    for (const call of [
      () => person.open(consentUrl),
      () => person.see(id),
      () => person.open(consentUrl),
      () => person.see(id),
    ])
      statuses.push((await call()).statusCode);

    expect(statuses).toEqual([200, 200, 200, 200]);
    for (const refused of [await person.open(consentUrl), await person.see(id)]) {
      expect(refused.statusCode).toBe(429);
      expect(refused.json().details).toMatchObject({ rule: 'consent', limit: 4 });
    }
    service.advance(60);
    expect((await person.see(id)).statusCode).toBe(200);
  });

  test('changes nothing by a request too many: the ticket opens no session', async () => {
    const { service, consentUrl, id } = await startCounting({ RATE_LIMIT_CONSENT: '2' });
    const [person, other] = [personOn(service), personOn(service)];
    await person.open(consentUrl);
    await person.see(id);

    expect((await other.open(consentUrl)).statusCode).toBe(429);

    service.advance(60);
    expect((await person.see(id)).statusCode).toBe(200); // the newest session is still this browser's
  });

  test('counts by address too, four times as many', async () => {
    const { service, consentUrl } = await startCounting({ RATE_LIMIT_CONSENT: '1' });
    const { id, ticket } = linkParts(consentUrl);
    const person = personOn(service);

    const statuses = [];
    for (let times = 0; times < 5; times += 1) statuses.push((await person.open(consentUrl)).statusCode);

    expect(statuses).toEqual([200, 429, 429, 429, 429]);
    const last = await person.call('POST', `/v1/consent/${id}/session`, { body: { ticket } });
    expect(last.json().details).toMatchObject({ rule: 'consent', limit: 4 });
  });
});

const sandbox = sharedSandbox();

const rules = { '/amount': { max: '500' }, '/currency': { in: ['EUR', 'USD'] } };

async function asked() {
  const { acme, service } = await sandbox();
  const { agentId } = await registerAgent(acme);
  const { id, consentUrl } = await authorize(acme, agentId, {
    scopes: ['tool:acme_pay:write'],
    authorizationDetails: [
      {
        type: 'urn:service:tools:v1',
        connector: 'acme_pay',
        tools: ['transfer', 'balance'],
        arguments: { transfer: rules },
      },
    ],
    autoApprove: false,
  });
  const person = personOn(service);
  const opened = await person.open(consentUrl);
  const entriesOf = async (approved: { json(): { code: string } }) => {
    const { code } = approved.json();
    const { grantToken } = (await acme('POST', '/v1/token', { code, agentId })).json();
    return partsOf(grantToken).payload.authorization_details;
  };
  return { id, person, opened, entriesOf };
}

test('a person is shown the limits of arguments in words', async () => {
  const { opened } = await asked();

  expect(opened.json().request.argumentLimits).toEqual([
    {
      connector: 'acme_pay',
      tool: 'transfer',
      open: false,
      lines: [
        { path: 'amount', text: 'at most 500' },
        { path: 'currency', text: '“EUR” or “USD”' },
      ],
    },
  ]);
});

test.each([
  ['de-AT', ['höchstens 500', '„EUR“ oder „USD“']],
  ['fr', ['au plus 500', '“EUR” ou “USD”']],
  ['ja', ['500以下', '「EUR」または「USD」']],
  ['en', ['at most 500', '“EUR” or “USD”']],
])('the limits are in the language of a browser in %s', async (language, texts) => {
  const { id, person } = await asked();

  const seen = await person.call('GET', `/v1/consent/${id}`, { headers: { 'accept-language': language } });

  const [limits] = seen.json().argumentLimits;
  expect(limits.lines.map(({ text }: { text: string }) => text)).toEqual(texts);
});

test('a person allows less, and the token holds the person’s limits', async () => {
  const { id, person, entriesOf } = await asked();
  const transfer = { '/amount': { min: '10', max: '100' }, '/currency': { in: ['EUR'] } };

  const approved = await person.approve(id, { arguments: { acme_pay: { transfer } } });

  expect(await entriesOf(approved)).toEqual([
    expect.objectContaining({ connector: 'acme_pay', arguments: { transfer } }),
  ]);
});

test('a person who says nothing about arguments keeps the limits that were asked', async () => {
  const { id, person, entriesOf } = await asked();

  const approved = await person.approve(id, { tools: { acme_pay: ['transfer'] } });

  expect(await entriesOf(approved)).toEqual([
    expect.objectContaining({ tools: ['transfer'], arguments: { transfer: rules } }),
  ]);
});

test('O8 an approval gives at most what was asked', async () => {
  const { id, person } = await asked();
  const wider = { '/amount': { max: '501' }, '/currency': { in: ['EUR'] } };

  const refused = await person.approve(id, { arguments: { acme_pay: { transfer: wider } } });

  expect(refused.statusCode).toBe(400);
  expect(refused.json().details.fields).toEqual([
    { path: 'arguments.acme_pay.transfer', problem: 'not_allowed' },
  ]);
  expect((await person.approve(id)).statusCode).toBe(200);
});
