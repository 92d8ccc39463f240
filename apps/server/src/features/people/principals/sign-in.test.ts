import { randomUUID } from 'node:crypto';
import { describe, expect, test, vi } from 'vitest';
import { authenticator, type Fault } from '../../../../test/app/authenticator.ts';
import { verifyAddress } from '../../../../test/app/every-caller.ts';
import { authorize, entriesOf, grantTo, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import { type Asked, enrolDiscoverable } from '../../../../test/app/showing-passkeys.ts';
import { type Developer, type Service, startApp, type TestOptions } from '../../../../test/app/start-app.ts';

/** An account whose people read a code before they decide. */
async function accountByMail(service: Service, name: string, address: string) {
  const developer = await service.asDeveloper();
  await verifyAddress(service, developer);
  const voucher = await newVoucher();
  await developer('PATCH', '/v1/me', { name, consentMode: 'email', consentKeys: [voucher.jwk] });
  const { agentId } = await registerAgent(developer);

  /** Opens a request in a browser of its own, which the application tells an address. */
  async function begin(principalId: string) {
    const request = await authorize(developer, agentId, { principalId });
    const person = personOn(service);
    const id = String(request.id);
    const name = async (email: string) => {
      const claims = { ...hintClaims(service, developer.developerId, request), email };
      await person.open(request.consentUrl, await voucher.hint(claims));
    };
    const readCode = async () => {
      await person.call('POST', `/v1/consent/${id}/email`);
      return /^ {4}(\d{8})$/m.exec(service.mails.sent()[0]?.text ?? '')?.[1] ?? '';
    };
    const type = (code: string) => person.call('POST', `/v1/consent/${id}/email/verify`, { body: { code } });
    return { id, person, name, readCode, type };
  }

  /** The person reads the code of a request. */
  async function prove(principalId = 'user_42', email = address) {
    const { id, person, name, readCode, type } = await begin(principalId);
    await name(email);
    const checked = await type(await readCode());
    if (checked.statusCode !== 200) throw new Error(checked.body);
    return { id, person };
  }
  return { developer, agentId, begin, prove };
}

async function startByMail(options: TestOptions = {}) {
  const service = await startApp({ store: 'memory', ...options }); // whose pauses go by the clock of the test
  const email = `${randomUUID()}@example.org`; // the files of a run share a database
  return { ...service, service, email, acme: await accountByMail(service, 'Acme Books', email) };
}

const ask = (service: Service, email: string, link?: string, headers: Record<string, string> = {}) =>
  personOn(service).call('POST', '/v1/principal/sign-in/mail', {
    body: { email, ...(link && { link }) },
    headers,
  });
const use = (service: Service, token: string) =>
  personOn(service).call('POST', '/v1/principal/sign-in/link', { body: { token } });

const SUBJECT = 'Your link to what agents may do for you';
const linkMails = ({ mails }: Service) => mails.sent().filter(({ subject }) => subject === SUBJECT);

/** Asks for a link, and waits for the mail. @returns the tokens in it */
async function tokensFor(service: Service, email: string): Promise<string[]> {
  const before = linkMails(service).length;
  await ask(service, email);
  await vi.waitFor(() => expect(linkMails(service)).toHaveLength(before + 1));
  return [...(linkMails(service)[0]?.text ?? '').matchAll(/permissions#link=([\w-]+)/g)].map(
    ([, it]) => it ?? '',
  );
}

/** Whose page a session opens. */
async function ownerOf(service: Service, sessionToken: string) {
  const seen = (await service.calling(sessionToken)('GET', '/v1/principal/grants')).json();
  return [seen.developerName, seen.principalId];
}

describe('a mailed link', () => {
  test('opens the page of who has read a code at the address, once, and for ten minutes', async () => {
    const { service, acme, email, advance, mails } = await startByMail();
    await acme.prove();

    const [token = ''] = await tokensFor(service, email);
    const opened = await use(service, token);
    const again = await use(service, token);
    const [late = ''] = await tokensFor(service, email.toUpperCase());
    advance(600);

    expect(linkMails(service)[0]).toMatchObject({
      ...{ to: email, account: 'Acme Books' },
      text: expect.stringContaining('Acme Books'),
    });
    expect(mails.sent().at(-1)?.text).not.toContain('permissions#link'); // the control: other mails have none
    expect(opened.statusCode).toBe(201);
    expect(await ownerOf(service, opened.json().sessionToken)).toEqual(['Acme Books', 'user_42']);
    expect(refusalOf(again)).toBe('400 TOKEN_EXPIRED');
    expect(refusalOf(await use(service, late))).toBe('400 TOKEN_EXPIRED');
    expect(refusalOf(await use(service, token.replace(/^./, '_')))).toBe('400 TOKEN_EXPIRED');
    expect(await entriesOf(acme.developer, 'principal.session_created')).toEqual([
      expect.objectContaining({
        principalId: 'user_42',
        metadata: expect.objectContaining({ method: 'email' }),
      }),
    ]);
  });

  test('comes in the language of the page on which it was asked for', async () => {
    const { service, acme, email, mails } = await startByMail();
    await acme.prove();

    await ask(service, email, undefined, { 'accept-language': 'ja, de;q=0.9' });

    await vi.waitFor(() =>
      expect(mails.sent()[0]).toMatchObject({
        ...{ to: email, language: 'ja', account: 'Acme Books', button: '権限のページを開く' },
        subject: 'エージェントに許可した内容を確認するリンク',
        text: expect.stringMatching(/\nアカウント: Acme Books\n\n {4}https:\S+#link=[\w-]+\n/),
      }),
    );
  });

  test('O33 is used by one of many who use it at the same time', async () => {
    const { service, acme, email } = await startByMail();
    await acme.prove();
    const [token = ''] = await tokensFor(service, email);

    const answers = await Promise.all(Array.from({ length: 5 }, () => use(service, token)));

    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([201, 400, 400, 400, 400]);
  });

  test('O33 opens the page of its own account and person alone, of each account where the address was proved', async () => {
    const { service, acme, email } = await startByMail();
    const other = await accountByMail(service, 'Other Shop', email);
    await acme.prove('user_42');
    await acme.prove('user_43', `grace.${email}`);
    await other.prove('someone');

    const tokens = await tokensFor(service, email);
    expect(linkMails(service)[0]).not.toHaveProperty('account'); // two ask
    const owners = [];
    for (const token of tokens)
      owners.push(await ownerOf(service, (await use(service, token)).json().sessionToken));

    expect(owners.toSorted()).toEqual([
      ['Acme Books', 'user_42'],
      ['Other Shop', 'someone'],
    ]);
  });

  test('O33 is mailed to nobody who read no code there: a code counts for the address alone to which it went', async () => {
    const { service, acme, email } = await startByMail();
    const { name, readCode, type } = await acme.begin('user_42');
    await name(`own.${email}`);
    const code = await readCode();
    await name(email);

    expect(refusalOf(await type(code))).toBe('400 BAD_REQUEST');
    await ask(service, email);
    await name(`own.${email}`);
    expect((await type(code)).statusCode).toBe(200); // the control: it is the right code
    await tokensFor(service, `own.${email}`);
    expect(mailsTo(service, email)).toEqual([]);
  });

  test('O33 has a place for each account, however often another proves the address', async () => {
    const { service, acme, email, advance } = await startByMail();
    const other = await accountByMail(service, 'Other Shop', email);
    await acme.prove();
    for (let time = 0; time < 6; time += 1) {
      advance(3600);
      await other.prove(`person_${time}`);
    }

    const tokens = await tokensFor(service, email);

    const owners = [];
    for (const token of tokens)
      owners.push(await ownerOf(service, (await use(service, token)).json().sessionToken));
    expect(owners).toEqual([
      ['Other Shop', 'person_5'],
      ['Acme Books', 'user_42'],
      ['Other Shop', 'person_4'],
      ['Other Shop', 'person_3'],
      ['Other Shop', 'person_2'],
    ]);
  });

  test('goes to the newest address of a person, and one that went to the address before opens nothing', async () => {
    const { service, acme, email } = await startByMail();
    await acme.prove();
    const [stale = ''] = await tokensFor(service, email);
    await acme.prove('user_42', `new.${email}`);

    await ask(service, email);
    const [token = ''] = await tokensFor(service, `new.${email}`);

    expect(linkMails(service).map(({ to }) => to)).toEqual([`new.${email}`, email]);
    expect(refusalOf(await use(service, stale))).toBe('400 TOKEN_EXPIRED');
    expect((await use(service, token)).statusCode).toBe(201);
  });

  test('O33 opens nothing once a mailbox is no longer enough for the account, and is not mailed; a refusal uses none up', async () => {
    const { service, acme, email, advance } = await startByMail();
    const other = await accountByMail(service, 'Other Shop', email);
    await acme.prove();
    advance(1);
    await other.prove('someone');
    const [, token = ''] = await tokensFor(service, email);
    const setMode = (consentMode: string) => acme.developer('PATCH', '/v1/me', { consentMode });
    await setMode('passkey');
    advance(300);

    expect(refusalOf(await use(service, token))).toBe('400 TOKEN_EXPIRED');
    const [only = '', ...more] = await tokensFor(service, email);
    expect(more).toEqual([]);
    expect(await ownerOf(service, (await use(service, only)).json().sessionToken)).toEqual([
      'Other Shop',
      'someone',
    ]);
    await setMode('email');
    const opened = await use(service, token); // the control
    expect(await ownerOf(service, opened.json().sessionToken)).toEqual(['Acme Books', 'user_42']);
  });

  test('is not mailed when the proof is half a year old', async () => {
    const { service, acme, email, advance } = await startByMail();
    await acme.prove();
    advance(180 * 86_400 - 1);
    expect(await tokensFor(service, email)).toHaveLength(1);

    advance(1);
    await ask(service, email);
    await acme.prove('user_43', `grace.${email}`);
    await tokensFor(service, `grace.${email}`); // by then the mail before would have gone

    expect(linkMails(service)).toHaveLength(2);
  });

  test('O33 answers for an address that nobody has proved as for one that somebody has, however often', async () => {
    const { service, acme, email } = await startByMail({ realLimits: true });
    await acme.prove();
    const askTimes = async (email: string) => {
      const answers = [];
      for (let time = 0; time < 10; time += 1) answers.push(await ask(service, email));
      return answers.map((answer) => [answer.statusCode, answer.json(), answer.headers['set-cookie']]);
    };

    const known = await askTimes(email);
    const unknown = await askTimes('nobody@example.org');
    await vi.waitFor(() => expect(linkMails(service)).toHaveLength(1));

    expect(unknown).toEqual(known);
    expect(known).toEqual(Array(10).fill([202, known[0]?.[1], undefined]));
    expect(mailsTo(service, 'nobody@example.org')).toEqual([]);
  });

  describe('O34 asked for by strangers', () => {
    /** Lets somebody ask in vain, and waits until a later mail to another person has gone. */
    async function askInVain(
      { service, acme }: Awaited<ReturnType<typeof startByMail>>,
      asking: () => unknown,
    ) {
      const marker = `${randomUUID()}@example.org`;
      await acme.prove(`marker_${marker}`, marker);
      const before = linkMails(service).length;
      await asking();
      await tokensFor(service, marker);
      expect(linkMails(service)).toHaveLength(before + 1);
    }

    /** Asks as often as strangers get mails for. @returns the tokens, the newest last */
    async function flood({ service, email, advance }: Awaited<ReturnType<typeof startByMail>>) {
      const tokens = [];
      for (let time = 0; time < 6; time += 1) {
        tokens.push(...(await tokensFor(service, email)));
        advance(300);
      }
      return tokens;
    }

    test('comes once in five minutes, and the first one works all the while', async () => {
      const started = await startByMail();
      const { service, acme, email, advance } = started;
      await acme.prove();
      const [token = ''] = await tokensFor(service, email);
      advance(299);

      await askInVain(started, () => ask(service, email));
      expect((await use(service, token)).statusCode).toBe(201);
      expect(await tokensFor(service, email)).toHaveLength(1); // the control: a link that was used makes nobody wait
    });

    test('comes six times in any 24 hours', async () => {
      const started = await startByMail();
      const { service, acme, email, advance } = started;
      await acme.prove();
      await flood(started);

      await askInVain(started, () => ask(service, email));
      advance(86_400 - 1800);
      expect(await tokensFor(service, email)).toHaveLength(1); // the first of the six is a day old
      advance(1);
      await askInVain(started, () => ask(service, email));
    });

    test('shuts nobody out who has one of the mails: its link asks for the next, also when it is over', async () => {
      const started = await startByMail();
      const { service, acme, email } = started;
      const stranger = `own.${email}`;
      await acme.prove();
      await acme.prove('mallory', stranger);
      const [theirs] = await tokensFor(service, stranger);
      const [, , old = ''] = await flood(started);

      await askInVain(started, () => ask(service, email, theirs));
      await askInVain(started, () => ask(service, email, old.replace(/^./, '_')));
      expect(refusalOf(await use(service, old))).toBe('400 TOKEN_EXPIRED');
      await ask(service, email, old);
      await vi.waitFor(() => expect(mailsTo(service, email)[0]).toBe(linkMails(service)[0]));
      const [, next = ''] = /#link=([\w-]+)/.exec(linkMails(service)[0]?.text ?? '') ?? [];
      expect((await use(service, next)).statusCode).toBe(201);
    });

    test('shuts nobody out of a browser in which a link was used', async () => {
      const started = await startByMail();
      const { service, acme, email } = started;
      await acme.prove();
      const [token = ''] = await tokensFor(service, email);
      const cookie = String((await use(service, token)).headers['set-cookie']);
      for (let time = 0; time < 5; time += 1) {
        await tokensFor(service, email);
        started.advance(300);
      }
      const askWith = (email: string, cookie: string) =>
        personOn(service).call('POST', '/v1/principal/sign-in/mail', {
          body: { email },
          headers: { cookie },
        });
      const [value = ''] = cookie.split(';');
      const forged = value.replace(/=\d/, '=9');

      await askInVain(started, () => askWith(email, forged));
      await acme.prove('user_43', `grace.${email}`);
      const before = linkMails(service).length;
      await askWith(email, value);

      await vi.waitFor(() => expect(linkMails(service)).toHaveLength(before + 1));
      expect(cookie).toMatch(
        /^__Host-bh_reader=\d+\.[\w-]{43}; Max-Age=15552000; Path=\/; HttpOnly; Secure; SameSite=Strict$/,
      );
    });

    test('costs one client 30 in an hour', async () => {
      const { service, advance } = await startByMail({ realLimits: true });
      const answers = [];
      for (let time = 0; time < 31; time += 1) {
        if (time === 16) advance(60);
        answers.push(await ask(service, `person${time}@example.org`));
      }

      expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array(30).fill(202), 429]);
    });
  });

  test('is asked for 20 times a minute from one client at most', async () => {
    const { service } = await startByMail({ realLimits: true, store: 'memory' });
    const answers = [];
    for (let time = 0; time < 21; time += 1) answers.push(await ask(service, `person${time}@example.org`));

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([...Array(20).fill(202), 429]);
  });

  test.each([
    ['another site', { origin: 'https://evil.test', 'sec-fetch-site': 'cross-site' }],
    ['a form of another site', { 'sec-fetch-site': 'cross-site', origin: '', 'content-type': 'text/plain' }],
  ])('O33 is neither asked for nor used by %s', async (_, headers) => {
    const { service, acme, email } = await startByMail();
    await acme.prove();
    const [token = ''] = await tokensFor(service, email);
    const post = (step: string, body: object) =>
      personOn(service).call('POST', `/v1/principal/sign-in/${step}`, {
        body: JSON.stringify(body),
        headers,
      });

    expect((await post('mail', { email })).statusCode).toBeGreaterThanOrEqual(400);
    expect((await post('link', { token })).statusCode).toBeGreaterThanOrEqual(400);

    expect(linkMails(service)).toHaveLength(1);
    expect((await use(service, token)).statusCode).toBe(201); // the control: it was not used up
  });

  test.each([
    ['a bad address', 'mail', { email: 'nobody' }],
    ['a text that is no token', 'link', { token: 'x' }],
    ['a member more', 'mail', { email: 'ada@example.org', principalId: 'user_42' }],
  ])('is refused with %s', async (_, step, body) => {
    const { service } = await startByMail();

    const answer = await personOn(service).call('POST', `/v1/principal/sign-in/${step}`, { body });

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
  });

  test('is forgotten with the account', async () => {
    const { service, acme, email } = await startByMail();
    await acme.prove();
    const [token = ''] = await tokensFor(service, email);
    const closed = await acme.developer('POST', '/v1/me/close', { confirm: acme.developer.developerId });

    expect([closed.statusCode, (await use(service, token)).statusCode]).toEqual([202, 401]);
  });
});

const mailsTo = ({ mails }: Service, address: string) => mails.sent().filter(({ to }) => to === address);

describe('a proved address', () => {
  const changesOf = async (developer: Developer) =>
    (await entriesOf(developer, 'principal.address_proved')).map(({ metadata }) => metadata);

  test('is in the audit log with the decision for which it was proved, and its events say no address', async () => {
    const { acme, email } = await startByMail();

    const ids = [await acme.prove(), await acme.prove(), await acme.prove('user_42', `new.${email}`)];

    expect(await changesOf(acme.developer)).toEqual(
      ids.map(({ id }, index) => ({
        authRequestId: id,
        change: ['added', 'renewed', 'replaced'][index],
        actor: 'principal',
      })),
    );
    const { events } = (await acme.developer('GET', '/v1/events?types=principal.address_proved')).json();
    expect(events).toHaveLength(3);
    expect(JSON.stringify(events)).not.toContain('example.org');
  });

  test('is removed by its person: mailed links and other sessions end, and this one goes on', async () => {
    const { service, acme, email, advance } = await startByMail();
    await acme.prove();
    const open = async () => {
      const [token = ''] = await tokensFor(service, email);
      return service.calling((await use(service, token)).json().sessionToken);
    };
    const [thief, own] = [await open(), await open()];
    const [mailed = ''] = await tokensFor(service, email);
    const before = await own('GET', '/v1/principal/address');

    const removed = await own('DELETE', '/v1/principal/address');

    expect(before.json()).toEqual({
      address: { provedAt: expect.any(String), usableUntil: expect.any(String) },
    });
    expect(removed.statusCode).toBe(204);
    expect((await own('GET', '/v1/principal/address')).json()).toEqual({ address: null });
    expect(refusalOf(await own('DELETE', '/v1/principal/address'))).toBe('404 NOT_FOUND');
    expect((await thief('GET', '/v1/principal/grants')).statusCode).toBe(401);
    expect(refusalOf(await use(service, mailed))).toBe('400 TOKEN_EXPIRED');
    expect(await entriesOf(acme.developer, 'principal.address_removed')).toMatchObject([
      { principalId: 'user_42', metadata: { reason: 'principal', actor: 'principal' } },
    ]);
    expect(await entriesOf(acme.developer, 'principal.session_ended')).toMatchObject([
      { metadata: { reason: 'address_removed' } },
    ]);
    advance(300);
    await acme.prove(); // the control: it can be proved again
    expect(await tokensFor(service, email)).toHaveLength(1);
  });

  test('O36 lets nobody undo what keeps its person safe, who reads its mails and shows nothing more', async () => {
    const { service, acme, email } = await startByMail();
    const passkeyId = await enrolPasskey(acme.developer);
    const held = await acme.prove();
    await held.person.approve(held.id);
    const [token = ''] = await tokensFor(service, email);
    const mailed = service.calling((await use(service, token)).json().sessionToken);
    const page = await held.person.call('POST', `/v1/consent/${held.id}/permissions`, { body: {} });
    const vouched = service.calling(page.json().sessionToken);
    const undo = (call: typeof mailed) => [
      () => call('DELETE', '/v1/principal/stops/stop_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'),
      () => call('DELETE', `/v1/principal/passkeys/${passkeyId}`),
    ];

    const refused = [];
    for (const each of undo(mailed)) refused.push(refusalOf(await each()));
    const done = [];
    for (const each of undo(vouched)) done.push((await each()).statusCode);

    expect(refused).toEqual(Array(2).fill('403 PRINCIPAL_VERIFICATION_REQUIRED'));
    expect(done).toEqual([404, 204]); // the control
    expect((await mailed('DELETE', '/v1/principal/grants')).statusCode).toBe(200); // it ends everything
  });

  /** @returns the id of a passkey of the person */
  async function enrolPasskey(developer: Developer): Promise<string> {
    await enrolDiscoverable(developer, authenticator());
    const { credentials } = (await developer('GET', '/v1/webauthn/credentials?principalId=user_42')).json();
    return credentials[0].id;
  }

  test('is removed by the developer, and by no other one', async () => {
    const { service, acme, email } = await startByMail();
    const other = await service.asDeveloper();
    await acme.prove();
    const [token = ''] = await tokensFor(service, email);
    const opened = (await use(service, token)).json();
    const remove = (developer: Developer) => developer('DELETE', '/v1/principal-addresses/user_42');

    expect(refusalOf(await remove(other))).toBe('404 NOT_FOUND');
    expect((await service.calling(opened.sessionToken)('GET', '/v1/principal/address')).statusCode).toBe(200);
    expect((await remove(acme.developer)).statusCode).toBe(204);

    expect((await service.calling(opened.sessionToken)('GET', '/v1/principal/address')).statusCode).toBe(401);
    expect(refusalOf(await remove(acme.developer))).toBe('404 NOT_FOUND');
    expect(await entriesOf(acme.developer, 'principal.address_removed')).toMatchObject([
      { principalId: 'user_42', metadata: { reason: 'api' } },
    ]);
  });
});

describe('a passkey', () => {
  async function startWithPasskeys() {
    const service = await startApp();
    const acme = await service.asDeveloper();
    const device = authenticator();
    const userHandle = await enrolDiscoverable(acme, device);
    const post = (path: string, body: object) =>
      personOn(service).call('POST', `/v1/principal/sign-in/${path}`, { body });
    const begin = async (): Promise<Asked> => (await post('passkey', {})).json();
    const given = ({ challengeId, publicKey }: Asked, fault: Fault = {}) => ({
      challengeId,
      response: device.get(publicKey, { userHandle, ...fault }),
    });
    const show = (answer: object) => post('passkey/verify', answer);
    return { service, acme, begin, given, show };
  }

  test('opens the page of its person, and its answer opens nothing again', async () => {
    const { service, acme, begin, given, show } = await startWithPasskeys();
    const answer = given(await begin());

    const opened = await show(answer);

    expect(opened.statusCode).toBe(201);
    expect((await ownerOf(service, opened.json().sessionToken))[1]).toBe('user_42');
    expect(refusalOf(await show(answer))).toBe('400 CHALLENGE_INVALID');
    expect(await entriesOf(acme, 'fido.assertion')).toHaveLength(1);
  });

  test('that its person has removed, or that answers under another handle, opens nothing', async () => {
    const { acme, begin, given, show } = await startWithPasskeys();
    const strange = await show(given(await begin(), { userHandle: Buffer.alloc(32).toString('base64url') }));
    const { credentials } = (await acme('GET', '/v1/webauthn/credentials?principalId=user_42')).json();
    await acme('DELETE', `/v1/webauthn/credentials/${credentials[0].id}`);

    const removed = await show(given(await begin()));

    expect([strange, removed].map(({ statusCode, json }) => [statusCode, json().code])).toEqual(
      Array(2).fill([400, 'WEBAUTHN_VERIFICATION_FAILED']),
    );
    expect(await entriesOf(acme, 'principal.session_created')).toEqual([]);
    expect(await entriesOf(acme, 'fido.sign_in_failed')).toEqual([]); // an unknown passkey belongs to no account
  });

  test('O35 that did not verify is in the audit log, once in a minute', async () => {
    const { service, acme, begin, given, show } = await startWithPasskeys();
    for (let time = 0; time < 3; time += 1) await show(given(await begin(), { flags: 1 }));
    service.advance(60);

    await show(given(await begin(), { flags: 1 }));
    expect((await show(given(await begin()))).statusCode).toBe(201); // the control

    expect(await entriesOf(acme, 'fido.sign_in_failed')).toMatchObject(
      [0, 3].map((previousMinute) => ({
        ...{ principalId: 'user_42', status: 'blocked' },
        metadata: { check: 'userVerification', code: 'WEBAUTHN_VERIFICATION_FAILED', previousMinute },
      })),
    );
  });
});

describe('the last page of a consent', () => {
  const openPage = ({
    person,
    id,
  }: Awaited<ReturnType<Awaited<ReturnType<typeof accountByMail>>['prove']>>) =>
    person.call('POST', `/v1/consent/${id}/permissions`, { body: {} });

  test.each(['approve', 'deny'] as const)(
    'leads on without another proof, after a mailed code and %s',
    async (kind) => {
      const { service, acme } = await startByMail();
      const held = await acme.prove();
      await held.person[kind](held.id);

      const opened = await openPage(held);

      expect(opened.statusCode).toBe(201);
      expect(await ownerOf(service, opened.json().sessionToken)).toEqual(['Acme Books', 'user_42']);
    },
  );

  test('asks again when the proof is a quarter of an hour old', async () => {
    const { acme, advance } = await startByMail();
    const held = await acme.prove();
    await held.person.approve(held.id);

    advance(15 * 60);

    expect(refusalOf(await openPage(held))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
  });

  async function nameBy(way: 'hint' | 'link' | 'sandbox') {
    const service = await startApp();
    const developer: Developer = await service.asDeveloper(way === 'sandbox' ? { mode: 'sandbox' } : {});
    if (way === 'sandbox') await grantTo(developer);
    const voucher = await newVoucher();
    if (way === 'hint') await developer('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
    const { agentId } = await registerAgent(developer);
    const request = await authorize(developer, agentId);
    const person = personOn(service);
    const claims = hintClaims(service, developer.developerId, request);
    await person.open(request.consentUrl, way === 'hint' ? await voucher.hint(claims) : undefined);
    return { developer, id: String(request.id), person };
  }

  test.each(['hint', 'link', 'sandbox'] as const)(
    'O33 opens nothing for who was named by the developer alone: %s',
    async (way) => {
      const { developer, ...held } = await nameBy(way);
      if (way !== 'sandbox') expect((await held.person.approve(held.id)).statusCode).toBe(200);

      expect((await openPage(held)).statusCode).toBe(way === 'sandbox' ? 401 : 403);
      expect(await entriesOf(developer, 'principal.session_created')).toEqual([]);
    },
  );
});
