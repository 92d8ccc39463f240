import { describe, expect, test } from 'vitest';
import { authorize, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import { startApp, type TestOptions } from '../../../../test/app/start-app.ts';
import { verifyAddress } from '../../../../test/app/verified.ts';

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
    expect(refused[0]?.body).not.toContain('421');
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
});
