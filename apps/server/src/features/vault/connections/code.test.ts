import { expect, test } from 'vitest';
import { startAccountsServer } from '../../../../test/app/accounts-server.ts';
import { addProvider, askToConnect, besideUpstream, browserOf } from '../../../../test/app/connecting.ts';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { newVoucher } from '../../../../test/app/person.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { verifyAddress } from '../../../../test/app/verified.ts';

const EMAIL = 'ada@example.org';

/** A live developer whose people prove by a mailed code, and a browser with the hint that names the address. */
async function startMailed() {
  const upstream = await startAccountsServer();
  const service = await startApp(besideUpstream());
  const acme = await service.asDeveloper();
  await verifyAddress(service, acme);
  const voucher = await newVoucher();
  const connectLoginUrl = 'https://app.test/connect-login';
  await acme('PATCH', '/v1/me', { consentMode: 'email', consentKeys: [voucher.jwk], connectLoginUrl });
  await addProvider(acme, upstream);
  const session = await askToConnect(acme);
  const browser = browserOf(service);
  const { nonce } = (await browser.open(session)).json();
  const seconds = Math.floor(service.clock().getTime() / 1000);
  const times = { iat: seconds, exp: seconds + 60 };
  const who = { iss: acme.developerId, aud: 'https://auth.test', sub: 'user_42', email: EMAIL };
  const hint = await voucher.hint({ ...who, ...times, conn: session.id, nonce }, { typ: 'connect-hint+jwt' });
  const read = () => /^ {4}(\d{8})$/m.exec(service.mails.sent()[0]?.text ?? '')?.[1] ?? '';
  const open = () => browserOf(service).open(session);
  return { acme, service, upstream, session, browser, hint, read, open };
}

const another = (code: string) => String((Number(code) + 1) % 100_000_000).padStart(8, '0');

test('V16: a mailed code proves the person at the page, and spends the link for all other browsers', async () => {
  const { acme, service, upstream, session, browser, hint, read, open } = await startMailed();
  const { id } = session;

  const early = await browser.code(id);
  const { verification } = (await browser.hint(id, hint)).json();
  expect(verification).toEqual({ mode: 'email', satisfied: false, methods: ['email'] });
  expect(refusalOf(early)).toBe('409 CONFLICT');
  expect(refusalOf(await browser.start(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
  expect((await browser.code(id)).statusCode).toBe(201);
  expect(service.mails.sent()[0]).toMatchObject({
    to: EMAIL,
    subject: `${read()} is your code to connect an account`,
    text: expect.stringContaining(`The application: Acme`),
  });
  expect((await browser.checkCode(id, another(read()))).statusCode).toBe(400);
  expect(refusalOf(await browser.start(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
  const checked = await browser.checkCode(id, read());

  expect(checked.json().verification).toMatchObject({ mode: 'email', satisfied: true });
  expect((await open()).statusCode).toBe(404);
  await browser.callback(await upstream.visit((await browser.start(id)).json().redirectTo));
  expect((await browser.confirm(id)).json()).toMatchObject({ status: 'connected' });
  const [credential] = (await acme('GET', '/v1/vault/credentials')).json().credentials;
  expect(credential.connection.method).toBe('email');
  const [blocked] = await entriesOf(acme, 'vault.connection.blocked');
  expect(blocked?.metadata).toMatchObject({ connectSessionId: id, reason: 'proof' });
});

test('a mailed code is given up after its last try, and ends with its time', async () => {
  const { service, session, browser, hint, read } = await startMailed();
  const { id } = session;
  await browser.hint(id, hint);
  await browser.code(id);
  service.advance(600);

  expect((await browser.checkCode(id, read())).json().code).toBe('TOKEN_EXPIRED');
  expect(refusalOf(await browser.start(id))).toBe('403 PRINCIPAL_VERIFICATION_REQUIRED');
});
