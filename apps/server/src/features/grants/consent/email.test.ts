import { describe, expect, test } from 'vitest';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { authorize, consentsOf, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import { type Service, startApp, type TestOptions } from '../../../../test/app/start-app.ts';

const EMAIL = 'ada@example.org';

/**
 * A request whose person has to read a mail, and that person's browser, which opened it with the app's hint.
 */
async function mailed({ claims = { email: EMAIL }, ...options }: TestOptions & { claims?: object } = {}) {
  const service = await startApp(options);
  const developer = await service.asDeveloper();
  await verifyAddress(service, developer);
  const voucher = await newVoucher();
  await developer('PATCH', '/v1/me', { consentMode: 'email', consentKeys: [voucher.jwk] });
  const { agentId } = await registerAgent(developer);
  const request = await authorize(developer, agentId);
  const hint = await voucher.hint({ ...hintClaims(service, developer.developerId, request), ...claims });
  const person = personOn(service);
  const id = String(request.id);
  const open = () => person.open(request.consentUrl, hint);
  const opened = (await open()).json();
  return {
    ...service,
    developer,
    agentId,
    request,
    id,
    person,
    opened,
    open,
    send: () => person.call('POST', `/v1/consent/${id}/email`),
    check: (code: string) => person.call('POST', `/v1/consent/${id}/email/verify`, { body: { code } }),
    /** The code that a person would read. */
    read: () => /^ {4}(\d{8})$/m.exec(service.mails.sent()[0]?.text ?? '')?.[1] ?? '',
  };
}

const another = (code: string) => String((Number(code) + 1) % 100_000_000).padStart(8, '0');

describe('a mailed code', () => {
  test('proves that the person reads the address that the developer vouches for', async () => {
    const { developer, agentId, id, person, opened, send, check, read, mails } = await mailed();

    const early = await person.approve(id);
    const sent = await send();
    const checked = await check(read());
    const { code } = (await person.approve(id)).json();
    const { grantId } = (await developer('POST', '/v1/token', { code, agentId })).json();

    const open = { mode: 'email', satisfied: false, methods: ['email'] };
    expect(opened.verification).toEqual(open);
    expect(refusalOf(early)).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    expect(sent.statusCode).toBe(201);
    expect(sent.json()).toEqual({ expiresAt: '2026-01-01T00:10:00.000Z' });
    expect(mails.sent()[0]).toMatchObject({ to: EMAIL, text: expect.stringContaining('Travel booker') });
    expect(checked.json()).toEqual({
      verification: { ...open, satisfied: true, satisfiedUntil: '2026-01-01T00:15:00.000Z' },
    });
    const grant = (await developer('GET', `/v1/grants/${grantId}`)).json();
    expect(grant).toMatchObject({ consentMethod: 'email' });
    expect(grant).not.toHaveProperty('unverified');
    const proof = { mode: 'email', at: '2026-01-01T00:00:00.000Z', address: 'a…@example.org' };
    expect(await consentsOf(developer, 'user_42')).toMatchObject([{ proof }]);
  });

  test('comes in the language of the page that asks for it, and in English where that is unknown', async () => {
    const { id, person, send, mails, read } = await mailed();
    const sendIn = (languages: string) =>
      person.call('POST', `/v1/consent/${id}/email`, { headers: { 'accept-language': languages } });

    await sendIn('de-AT, en;q=0.5');
    expect(mails.sent()[0]).toMatchObject({
      subject: `${read()} ist Ihr Code, um über einen Agenten zu entscheiden`,
      text: expect.stringMatching(
        /^Ohne diesen Code wird nichts erlaubt\.[\s\S]*\nDer Agent: Travel booker\n/,
      ),
      language: 'de',
    });
    await sendIn('tlh');
    expect(mails.sent()[0]).toMatchObject({
      subject: expect.stringContaining('is your code'),
      language: 'en',
    });
    await send();
    expect(mails.sent()[0]).toMatchObject({
      subject: expect.stringContaining('is your code'),
      language: 'en',
    });
  });

  test('O22: proves for 15 minutes, and as long as the key of the hint with its address stands', async () => {
    const { developer, advance, id, person, send, check, read } = await mailed();
    const proves = async () => (await person.see(id)).json().verification.satisfied;
    await send();
    await check(read());

    advance(15 * 60 - 1);
    expect(await proves()).toBe(true);
    advance(1);
    expect(await proves()).toBe(false);
    expect(refusalOf(await person.approve(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
    await send();
    expect((await check(read())).json().verification.satisfied).toBe(true);

    await developer('PATCH', '/v1/me', { consentKeys: [(await newVoucher()).jwk] });
    expect((await person.see(id)).json().verification).toEqual({
      mode: 'email',
      satisfied: false,
      methods: ['hint'],
    });
    expect(refusalOf(await send())).toBe('409 CONFLICT');
  });

  test('is valid once, for ten minutes, and until a newer code is sent', async () => {
    const { advance, send, check, read } = await mailed();

    await send();
    const first = read();
    await send();
    const second = read();
    const replaced = await check(first);
    advance(600);
    const late = await check(second);
    await send();
    const third = read();
    const good = await check(third);
    const again = await check(third);

    expect(refusalOf(replaced)).toBe('400 BAD_REQUEST');
    expect(refusalOf(late)).toBe('400 TOKEN_EXPIRED');
    expect(good.statusCode).toBe(200);
    expect(again.statusCode).toBe(400);
  });

  test('can be guessed four times; the fifth wrong code ends the session and the code', async () => {
    const { developer, send, check, read, open, person, id } = await mailed();
    await send();
    const code = read();

    const guesses = [];
    for (let guess = 1; guess <= 5; guess += 1) guesses.push(await check(another(code)));
    const ended = await person.see(id);
    await open();
    const afterwards = await check(code);

    expect(guesses.map(({ statusCode }) => statusCode)).toEqual([400, 400, 400, 400, 401]);
    expect(ended.statusCode).toBe(401);
    expect(afterwards.statusCode).toBe(401);
    const [entry] = await entriesOf(developer, 'consent.verification_failed');
    expect(entry).toMatchObject({ status: 'blocked', metadata: { method: 'email' } });
  });

  test('is sent three times for a request, however often the page is opened', async () => {
    const { open, send } = await mailed();

    const answers = [];
    for (let time = 1; time <= 4; time += 1) {
      await open();
      answers.push((await send()).statusCode);
    }

    expect(answers).toEqual([201, 201, 201, 409]);
  });

  test.each([
    ['no address', {}],
    ['no text for an address', { email: 7 }],
    ['two addresses', { email: 'ada@example.org,eve@example.org' }],
    ['another header', { email: 'ada@example.org\nBcc: eve@example.org' }],
  ])('goes nowhere when the hint has %s', async (_, claims) => {
    const { opened, send, mails } = await mailed({ claims });

    const refused = await send();

    expect(opened.verification).toEqual({ mode: 'email', satisfied: false, methods: ['hint'] });
    expect(refusalOf(refused)).toBe('409 CONFLICT');
    expect(mails.sent()).toHaveLength(1); // the link that verified the account's own address
  });

  test('is reported when the mail server refuses it, and counts as sent', async () => {
    const { send, mails } = await mailed();
    const keep = mails.send;
    mails.send = () => Promise.reject(new Error('421 too busy for ada@example.org'));

    const refused = [await send(), await send()];
    mails.send = keep;
    const last = [await send(), await send()];

    expect(refused.map(refusalOf)).toEqual(['502 UPSTREAM_ERROR', '502 UPSTREAM_ERROR']);
    const { requestId: _, ...told } = refused[0]?.json() ?? {}; // an id may hold any digits
    expect(JSON.stringify(told)).not.toContain('421');
    expect(last.map(({ statusCode }) => statusCode)).toEqual([201, 409]);
  });

  test.each(['1234567', '123456789', 'abcdefgh', '１２３４５６７８'])(
    'is not %s, whatever was sent',
    async (code) => {
      const { send, check } = await mailed();
      await send();

      expect(refusalOf(await check(code))).toBe('400 BAD_REQUEST');
    },
  );

  test('is demanded in the sandbox too, once the developer has chosen it', async () => {
    const service = await startApp();
    const developer = await service.asDeveloper({ mode: 'sandbox' });
    await verifyAddress(service, developer);
    await developer('PATCH', '/v1/me', { consentMode: 'email' });
    const { agentId } = await registerAgent(developer);
    const request = await authorize(developer, agentId, { autoApprove: false });
    const person = personOn(service);

    const { verification } = (await person.open(request.consentUrl)).json();

    expect(verification).toMatchObject({ mode: 'email', satisfied: false });
    expect((await person.approve(request.id)).statusCode).toBe(403);
  });
});

test('proof by mail needs mail settings, and an account with a verified address in either mode', async () => {
  const without = await (await startApp({ mail: 'none' })).asDeveloper();
  const service = await startApp();
  const [live, sandbox] = [await service.asDeveloper(), await service.asDeveloper({ mode: 'sandbox' })];
  const change = { name: 'Other', consentMode: 'email' };

  const refused = await without('PATCH', '/v1/me', change);
  expect(refusalOf(refused)).toBe('503 NOT_CONFIGURED');
  expect(refused.json().details).toEqual({ setting: 'SMTP_URL' });
  for (const developer of [live, sandbox]) {
    const early = await developer('PATCH', '/v1/me', change);
    expect(refusalOf(early)).toBe('409 CONFLICT');
    expect(early.json().details).toEqual({ field: 'emailVerified' });
    expect((await developer('GET', '/v1/me')).json()).toMatchObject({
      name: 'Acme',
      consentMode: 'developer',
    });

    await verifyAddress(service, developer);
    const changed = await developer('PATCH', '/v1/me', change);
    expect(changed.json()).toMatchObject({ consentMode: 'email', updated: true });
  }
  const [entry] = await entriesOf(live, 'developer.updated');
  expect(entry?.metadata).toMatchObject({ old: { consentMode: 'developer' }, new: { consentMode: 'email' } });
});

test('in development the mails are shown on a page', async () => {
  const { app, send, read } = await mailed();

  const before = (await app.inject('/development/mail')).body;
  await send();
  const { body } = await app.inject('/development/mail');

  expect(before).not.toContain(EMAIL);
  expect(body).toContain(`To: ${EMAIL}`);
  expect(body).toContain(read());
  const page = await app.inject({ url: '/development/mail', headers: { accept: 'text/html' } });
  expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(page.body).toContain(`<p class="aside">To ${EMAIL}</p>`);
});

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
    const grace = await (await account(service, { email: 'grace@example.org', mode: 'sandbox' })).ask();

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
    expect((await grace.send()).statusCode).toBe(201);
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
    expect(service.mails.sent()[0]?.account).toBe('Reset at or now');
    expect(`${subject}${text}`).not.toMatch(/evil|user_42|calendar/);
  });
});
