import { randomUUID } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { tokenIn, verifyAddress } from '../../../../test/app/every-caller.ts';
import { actionsOf, entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import type { Mail } from '../../../platform/mail/mailer.ts';
import { nameInMail } from './mail.rules.ts';

const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };
const JSON_ONLY = { accept: 'application/json' };

/** A service with a developer, and the ways in which a person's browser or a program uses a link. */
async function withLinks(options: Parameters<typeof startApp>[0] = {}) {
  const service = await startApp(options);
  const acme = await service.asDeveloper();
  const email = `ada-${randomUUID()}@acme.test`; // tests of a file share its database
  return { service, ...service, acme, email, ...linksOf(service, email) };
}

function linksOf({ app, mails }: Service, own: string) {
  const url = (token: string) => `/v1/signup/verify/${token}`;
  return {
    /** @returns the token of the mailed link */
    async link(developer: Developer, email = own) {
      const sent = await developer('POST', '/v1/signup/verify', { email });
      if (sent.statusCode !== 201) throw new Error(sent.body);
      return tokenIn(mails);
    },
    look: (token: string, headers = {}) => app.inject({ method: 'GET', url: url(token), headers }),
    press: (token: string, headers = {}) => app.inject({ method: 'POST', url: url(token), headers }),
  };
}

const emailOf = async (developer: Developer) => {
  const { email, emailVerified } = (await developer('GET', '/v1/me')).json();
  return { email, emailVerified };
};

describe('a mailed link', () => {
  test('verifies the address that it was sent to, in the form that the account stores', async () => {
    const { acme, mails, press, email } = await withLinks();

    const sent = await acme('POST', '/v1/signup/verify', { email: `  ${email.toUpperCase()} ` });
    const token = tokenIn(mails);
    const before = await emailOf(acme);
    const verified = await press(token);

    expect(sent.statusCode).toBe(201);
    expect(sent.json()).toEqual({ message: expect.any(String), expiresAt: '2026-01-02T00:00:00.000Z' });
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(mails.sent()).toMatchObject([
      { to: email, text: expect.stringContaining(`https://auth.test/v1/signup/verify/${token}`) },
    ]);
    expect(before).toEqual({ email: null, emailVerified: false });
    expect(verified.statusCode).toBe(200);
    expect(verified.json()).toEqual({ message: expect.any(String), email });
    expect(await emailOf(acme)).toEqual({ email, emailVerified: true });
    expect(await actionsOf(acme)).toEqual(['developer.created', 'developer.email_verified']);
    const [entry] = await entriesOf(acme, 'developer.email_verified');
    expect(entry?.metadata).toMatchObject({
      verificationId: expect.stringMatching(/^emv_/),
      actor: expect.stringMatching(/^developer:key_/),
    });
  });

  test('is used again by the same account without effect', async () => {
    const { acme, link, press, look } = await withLinks();
    const token = await link(acme);
    await press(token);

    const again = await press(token);

    expect([again.statusCode, again.json()]).toEqual([200, { message: expect.any(String) }]);
    expect((await look(token, JSON_ONLY)).json()).toMatchObject({ status: 'verified' });
    expect(await actionsOf(acme)).toEqual(['developer.created', 'developer.email_verified']);
  });

  test('verifies nothing when a program merely opens it, however it asks', async () => {
    const { app, acme, link, look, press, email } = await withLinks();
    const token = await link(acme);

    const page = await look(token, HTML);
    const scanned = await look(token);
    const asked = await look(token, JSON_ONLY);
    const head = await app.inject({ method: 'HEAD', url: `/v1/signup/verify/${token}` });

    expect([page.statusCode, scanned.statusCode, asked.statusCode, head.statusCode]).toEqual([
      200, 200, 200, 200,
    ]);
    expect(page.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(scanned.headers['content-type']).toBe('text/html; charset=utf-8');
    expect(page.body.match(/<button/g)).toHaveLength(1);
    expect(page.body).toContain('<form class="lead" method="post">');
    expect(page.body).not.toMatch(/<script|token/);
    expect(page.headers).toMatchObject({
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
      'x-frame-options': 'DENY',
      'content-security-policy':
        "default-src 'none'; style-src 'self'; img-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
    });
    expect(asked.json()).toEqual({ message: expect.any(String), email, status: 'pending' });
    expect(await emailOf(acme)).toEqual({ email: null, emailVerified: false });
    expect((await press(token)).statusCode).toBe(200);
  });

  test('is pressed by a browser without a script: an empty form, and a page as the answer', async () => {
    const { acme, link, press, email } = await withLinks();
    const token = await link(acme);
    const form = { ...HTML, 'content-type': 'application/x-www-form-urlencoded', origin: 'null' };

    const pressed = await press(token, form);
    const unknown = await press('x'.repeat(43), form);

    expect([pressed.statusCode, pressed.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(pressed.body).toContain('The address is verified');
    expect([unknown.statusCode, unknown.headers['content-type']]).toEqual([404, 'text/html; charset=utf-8']);
    expect(await emailOf(acme)).toEqual({ email, emailVerified: true });
  });

  test('is good for 24 hours', async () => {
    const { acme, advance, link, look, press } = await withLinks();
    const token = await link(acme);

    advance(86_399);
    expect((await look(token, JSON_ONLY)).statusCode).toBe(200);
    advance(1);
    expect(refusalOf(await look(token, JSON_ONLY))).toBe('400 TOKEN_EXPIRED');
    expect(refusalOf(await press(token))).toBe('400 TOKEN_EXPIRED');
    expect(await emailOf(acme)).toEqual({ email: null, emailVerified: false });
    expect((await press(await link(acme))).statusCode).toBe(200);
  });

  test('is void once a newer one was asked for', async () => {
    const { acme, link, press } = await withLinks();
    const older = await link(acme);
    const newer = await link(acme);

    expect(refusalOf(await press(older))).toBe('404 NOT_FOUND');
    expect((await press(newer)).statusCode).toBe(200);
  });

  test('to another address replaces the verified one, and frees it for others', async () => {
    const { service, acme, link, press } = await withLinks();
    const other = await service.asDeveloper();
    const first = await link(acme);
    await press(first);

    await press(await link(acme, 'new@acme.test'));

    expect(await emailOf(acme)).toEqual({ email: 'new@acme.test', emailVerified: true });
    expect(refusalOf(await press(first))).toBe('404 NOT_FOUND');
    expect((await press(await link(other))).statusCode).toBe(200);
  });

  test('is kept as a hash alone', async () => {
    const { acme, db, link } = await withLinks();
    const token = await link(acme);

    const stored = [
      await db
        .selectFrom('emailVerifications')
        .selectAll()
        .where('developerId', '=', acme.developerId)
        .execute(),
      await db
        .selectFrom('emailVerificationIndex')
        .selectAll()
        .where('developerId', '=', acme.developerId)
        .execute(),
    ];

    expect(JSON.stringify(stored)).not.toContain(token);
    expect(stored.flat()).toHaveLength(2);
  });
});

describe('an address', () => {
  test('owned by another account is refused when the link is used, and not before', async () => {
    const { service, acme, link, press, email } = await withLinks();
    const other = await service.asDeveloper();
    const [own, late] = [await link(acme), await link(other)];

    await press(own);
    const refused = await press(late);
    const asked = await other('POST', '/v1/signup/verify', { email });

    expect(refusalOf(refused)).toBe('409 EMAIL_TAKEN');
    expect(asked.statusCode).toBe(201);
    expect(await emailOf(other)).toEqual({ email: null, emailVerified: false });
    expect(await actionsOf(other)).toEqual(['developer.created']);
  });

  test('belongs to one of the accounts that verify it at once', async () => {
    const { service, link, press } = await withLinks();
    const accounts = await Promise.all(Array.from({ length: 6 }, () => service.asDeveloper()));
    const tokens = [];
    for (const account of accounts) tokens.push(await link(account));

    const answers = await Promise.all(tokens.map((token) => press(token)));

    const statuses = answers.map(({ statusCode }) => statusCode).sort();
    expect(statuses).toEqual([200, 409, 409, 409, 409, 409]);
    const owners = await Promise.all(accounts.map(emailOf));
    expect(owners.filter(({ emailVerified }) => emailVerified)).toHaveLength(1);
  });

  test('is verified once when its link is used several times at once', async () => {
    const { acme, link, press } = await withLinks();
    const token = await link(acme);

    const answers = await Promise.all(Array.from({ length: 6 }, () => press(token)));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual(Array(6).fill(200));
    expect(await actionsOf(acme)).toEqual(['developer.created', 'developer.email_verified']);
  });

  test('is exchanged by two accounts that each want the other’s', async () => {
    const { service, acme, link, press } = await withLinks();
    const other = await service.asDeveloper();
    const [mine, theirs] = [await verifyAddress(service, acme), await verifyAddress(service, other)];
    const [toTheirs, toMine] = [await link(acme, theirs), await link(other, mine)];

    const answers = await Promise.all([press(toTheirs), press(toMine)]);

    for (const { statusCode } of answers) expect([200, 409]).toContain(statusCode);
    const [one, two] = [await emailOf(acme), await emailOf(other)];
    expect(one.email).not.toBe(two.email);
  });

  test('has a form that leads to one mailbox', async () => {
    const { acme, mails } = await withLinks();

    for (const email of [
      'ada',
      'a@b',
      'a b@c.test',
      'a@b@c.test',
      'a\n@b.test',
      'a\r\nBcc: x@y.test',
      7,
      null,
    ]) {
      const refused = await acme('POST', '/v1/signup/verify', { email });
      expect([email, refusalOf(refused)]).toEqual([email, '400 BAD_REQUEST']);
    }
    expect(mails.sent()).toEqual([]);
  });
});

describe('asking for a link', () => {
  test('e03: is refused for letters beyond ASCII before the @, and sends nothing', async () => {
    const { acme } = await withLinks({});

    const refused = await acme('POST', '/v1/signup/verify', { email: 'дмитрий@почта.example' });

    expect(refused.statusCode).toBe(400);
    expect(refused.json().details).toEqual({ fields: [{ path: 'email', problem: 'not_allowed' }] });
  });

  test('e02: is answered alike when the mail server refuses the mail, which is logged without the address', async () => {
    const mailer = {
      send: ({ to }: Mail) =>
        Promise.reject(Object.assign(new Error(`550 no ${to}`), { code: 'EENVELOPE', responseCode: 550 })),
    };
    const { app, acme, logLines, email } = await withLinks({ mailer, logLevel: 'info' });

    const sent = await acme('POST', '/v1/signup/verify', { email });

    expect(sent.statusCode).toBe(201);
    expect(sent.json().message).toBe(
      'Look for a link at this address. If none comes, check the address and ask again.',
    );
    const line = logLines
      .map((text) => JSON.parse(text))
      .find(({ level }) => level === 40 || level === 'warn');
    expect(line).toMatchObject({ code: 'EENVELOPE', responseCode: 550 });
    expect(logLines.join()).not.toContain(email);
    expect((await app.inject('/metrics')).body).toMatch(/^mail_failed 1$/m);
  });

  test('needs mail settings', async () => {
    const { acme, email } = await withLinks({ mail: 'none' });

    const refused = await acme('POST', '/v1/signup/verify', { email });

    expect(refusalOf(refused)).toBe('503 NOT_CONFIGURED');
    expect(refused.json().details).toEqual({ setting: 'SMTP_URL' });
  });

  test('reaches one address five times an hour, and a refusal voids no link', async () => {
    const { service, acme, advance, link, press, email } = await withLinks({
      realLimits: true,
      store: 'memory',
    });
    const other = await service.asDeveloper();
    for (let time = 1; time <= 3; time += 1) await link(acme);
    await link(other);
    const last = await link(other);

    const refused = [
      await acme('POST', '/v1/signup/verify', { email }),
      await other('POST', '/v1/signup/verify', { email: ` ${email.toUpperCase()}` }),
    ];

    expect(refused.map(refusalOf)).toEqual(['429 RATE_LIMITED', '429 RATE_LIMITED']);
    expect(refused[0]?.json().details).toMatchObject({ rule: 'mailRecipient', windowSeconds: 3600 });
    expect((await press(last)).statusCode).toBe(200);
    advance(3600);
    expect((await acme('POST', '/v1/signup/verify', { email })).statusCode).toBe(201);
  });

  test('is answered once for one Idempotency-Key, and mails one link', async () => {
    const { app, acme, mails, email } = await withLinks();
    const ask = () =>
      app.inject({
        method: 'POST',
        url: '/v1/signup/verify',
        headers: { authorization: `Bearer ${acme.apiKey}`, 'idempotency-key': 'one' },
        body: { email },
      });

    const [first, again] = [await ask(), await ask()];

    expect(again.json()).toEqual(first.json());
    expect(again.headers['idempotency-replayed']).toBe('true');
    expect(mails.sent()).toHaveLength(1);
  });
});

describe('a link in the wrong hands', () => {
  test('is not guessed, and an answer does not tell a foreign link from an unknown one', async () => {
    const { service, acme, link, press, email } = await withLinks();
    const token = await link(acme);
    const near = `${token.slice(0, -1)}${token.endsWith('A') ? 'Q' : 'A'}`;

    const guesses = [near, token.slice(0, -1), `${token}A`, token.toLowerCase(), '%27or%271', 'x'];
    for (const guess of guesses) expect(refusalOf(await press(guess))).toBe('404 NOT_FOUND');
    expect(await emailOf(acme)).toEqual({ email: null, emailVerified: false });
    const stranger = await service.asDeveloper();
    const used = await service.app.inject({
      method: 'POST',
      url: `/v1/signup/verify/${token}`,
      headers: { authorization: `Bearer ${stranger.apiKey}` },
    });
    expect(used.statusCode).toBe(200);
    expect(await emailOf(stranger)).toEqual({ email: null, emailVerified: false });
    expect(await emailOf(acme)).toEqual({ email, emailVerified: true });
  });

  test('is in no log, whatever is asked of it', async () => {
    const { acme, app, link, look, press, logLines, email } = await withLinks({ logLevel: 'debug' });
    const token = await link(acme);

    await look(token, HTML);
    await press(`${token}%`);
    await app.inject({ method: 'PUT', url: `/v1/signup/verify/${token}` });
    await press(token);

    expect(logLines.length).toBeGreaterThan(4);
    expect(logLines.join()).not.toContain(token);
    expect(logLines.join()).not.toContain(email);
  });

  test('a page shows an address as text', async () => {
    const { acme, link, look } = await withLinks();
    const token = await link(acme, '"><img/src=x>@acme.test');

    const { body } = await look(token, HTML);

    expect(body).toContain('&quot;&gt;&lt;img/src=x&gt;@acme.test');
    expect(body).not.toContain('<img');
  });
});

test.each([
  ['Acme Inc. of Oslo', 'Acme Inc. of Oslo'],
  ['Ångström & Søn', 'Ångström & Søn'],
  ['Version 2 … and 3', 'Version 2 … and 3'],
  ['.NET, or not.', '.NET, or not.'],
  ['two\u2028lines\u00a0here', 'two lines here'],
  ['open https://evil.example/x now', 'open now'],
  ['open HTTPS:/x now', 'open now'],
  ['WWW.evil today', 'today'],
  ['write a@b today', 'write today'],
  ['evil.example wins', 'wins'],
  ['1.2 wins', 'wins'],
  ['evil\u3002example evil\uff0eexample evil\uff61example wins', 'wins'],
  ['evil\u2024example wins', 'wins'],
  ['evil\u200b.\u00adexample wins', 'wins'],
  ['e\u0301.example wins', 'wins'],
  ['\u{1f4a9}.la wins', 'wins'],
  ['\uff57\uff57\uff57\uff0eevil a\uff20b wins', 'wins'],
  ['open http:evil or file:evil or [here](evil) now', 'open or or now'],
  ['evil-.example evil_.example //evil \\\\evil tel:555 wins', 'wins'],
  ['Re: case a:b', 'Re: case a:b'],
  ['evil\u0000.example wins', 'wins'],
  ['evil.example', 'ag_1'],
  ['\u200b', 'ag_1'],
  ['x'.repeat(60), 'x'.repeat(60)],
  ['x'.repeat(61), `${'x'.repeat(59)}…`],
  ['\u{1f600}'.repeat(61), `${'\u{1f600}'.repeat(59)}…`],
])('the name %j stands in a mail as %j', (name, shown) => {
  expect(nameInMail(name, 'ag_1')).toBe(shown);
});
