import { describe, expect, test } from 'vitest';
import { authorize, refusalOf } from '../../../../test/app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { verifyAddress } from '../../../../test/app/verified.ts';

const EMAIL = 'ada@example.org';

interface Asking {
  readonly name?: string;
  readonly agentName?: string;
  readonly email?: string;
  readonly mode?: 'live' | 'sandbox';
}

/** An account whose persons prove themselves by mail. `ask` opens a request, whose person may ask for codes. */
async function account(service: Service, { name = 'Acme', agentName = 'Booker', email, mode }: Asking = {}) {
  const developer = await service.asDeveloper(mode ? { mode } : {});
  await verifyAddress(service, developer);
  const voucher = await newVoucher();
  const settings = { name, consentMode: 'email', consentKeys: [voucher.jwk] };
  await developer('PATCH', '/v1/me', settings);
  const { agentId } = (await developer('POST', '/v1/agents', { name: agentName })).json();
  const ask = async () => {
    const request = await authorize(developer, agentId, mode === 'sandbox' ? { autoApprove: false } : {});
    const claims = { ...hintClaims(service, developer.developerId, request), email: email ?? EMAIL };
    const person = personOn(service);
    await person.open(request.consentUrl, await voucher.hint(claims));
    return {
      send: () => person.call('POST', `/v1/consent/${request.id}/email`),
      check: (code: string) =>
        person.call('POST', `/v1/consent/${request.id}/email/verify`, { body: { code } }),
    };
  };
  return { developer, agentId: String(agentId), ask };
}

const codeIn = (text = '') => /^ {4}(\d{8})$/m.exec(text)?.[1] ?? '';

describe('O21: a mail of the consent page', () => {
  test('is sent for no account whose address is not verified', async () => {
    const service = await startApp();
    const { developer, ask } = await account(service);
    const { send } = await ask();
    expect((await send()).statusCode).toBe(201);
    const before = service.mails.sent().length;

    const unverified = { emailVerified: false };
    await service.db
      .updateTable('developers')
      .set(unverified)
      .where('id', '=', developer.developerId)
      .execute();
    const refused = await send();

    expect(refusalOf(refused)).toBe('409 CONFLICT');
    expect(refused.json().details).toEqual({ field: 'emailVerified' });
    expect(service.mails.sent()).toHaveLength(before);
  });

  test('reaches one address five times an hour from all accounts, and a refused one leaves the last code good', async () => {
    const service = await startApp({ realLimits: true, store: 'memory' });
    const [one, other] = [await account(service), await account(service, { email: EMAIL.toUpperCase() })];
    const [first, second] = [await one.ask(), await other.ask()];
    const stranger = await (await account(service, { email: 'grace@example.org', mode: 'sandbox' })).ask();

    for (const { send } of [first, first, second, second]) expect((await send()).statusCode).toBe(201);
    service.advance(60);
    const fifth = await second.send();
    const code = codeIn(service.mails.sent()[0]?.text);
    const third = await other.ask();
    const refused = await third.send();

    expect(fifth.statusCode).toBe(201);
    expect(refusalOf(refused)).toBe('429 RATE_LIMITED');
    expect(refused.json().message).toMatch(/retry in 3540 seconds$/);
    expect(refused.json().details).toEqual({
      rule: 'mailRecipient',
      limit: 5,
      windowSeconds: 3600,
      retryAfter: 3540,
    });
    expect(refused.headers).toMatchObject({
      'retry-after': '3540',
      'x-ratelimit-limit': '5',
      'x-ratelimit-remaining': '0',
      'x-ratelimit-reset': '1767229200',
    });
    expect((await stranger.send()).statusCode).toBe(201);
    expect((await second.check(code)).statusCode).toBe(200);

    service.advance(3540);
    const fresh = await other.ask();
    for (let time = 1; time <= 3; time += 1) expect((await fresh.send()).statusCode).toBe(201);
    expect(refusalOf(await fresh.send())).toBe('409 CONFLICT'); // the refusals above counted for no request
  });

  test('is one of so many in a day of the plan, and a refused one counts for nothing', async () => {
    const service = await startApp({
      store: 'memory',
      env: { PLAN_FREE_CONSENT_MAILS: '2', RATE_LIMIT_MAIL_RECIPIENT: '4' },
    });
    const { ask } = await account(service);
    const other = await account(service, { email: 'grace@example.org' });
    const { send, check } = await ask();
    for (let time = 1; time <= 2; time += 1) expect((await send()).statusCode).toBe(201);
    const code = codeIn(service.mails.sent()[0]?.text);

    const refused = [await send(), await send(), await send()];

    expect(refused.map(refusalOf)).toEqual(Array(3).fill('402 PLAN_LIMIT_EXCEEDED'));
    expect(refused[0]?.json().details).toEqual({
      limit: 2,
      plan: 'free',
      resource: 'consent_mails',
      current: 2,
    });
    expect((await check(code)).statusCode).toBe(200);
    expect((await (await other.ask()).send()).statusCode).toBe(201);
    service.advance(86_400);
    const tomorrow = await ask();
    expect([(await tomorrow.send()).statusCode, (await tomorrow.send()).statusCode]).toEqual([201, 201]);
    expect(refusalOf(await tomorrow.send())).toBe('402 PLAN_LIMIT_EXCEEDED');
  });

  test('is counted exactly when several are asked for at once', async () => {
    const service = await startApp({ env: { PLAN_FREE_CONSENT_MAILS: '5' } });
    const { ask } = await account(service);
    const asked = await Promise.all(Array.from({ length: 8 }, ask));

    const answers = await Promise.all(asked.map(({ send }) => send()));
    const again = await Promise.all(asked.map(({ send }) => send()));

    const sent = answers.filter(({ statusCode }) => statusCode === 201);
    expect(sent).toHaveLength(5);
    expect(again.map(({ statusCode }) => statusCode)).toEqual(Array(8).fill(402));
  });

  test('begins with the service’s own sentence and holds no name that leads anywhere', async () => {
    const service = await startApp();
    const name = 'Reset at https://evil.example/x or evil.example now';
    const { agentId, ask } = await account(service, { name, agentName: 'www.evil evil\u3002example' });
    const { send } = await ask();

    await send();

    const { subject, text } = service.mails.sent()[0] ?? { subject: '', text: '' };
    expect(text).toMatch(/^Nothing is allowed without this code\./);
    expect(text).toContain(`\nThe agent: ${agentId}\n`);
    expect(text).toContain('\nIts developer: Reset at or now\n');
    expect(`${subject}${text}`).not.toMatch(/evil|user_42|calendar/);
  });
});
