import { expect, onTestFinished, test } from 'vitest';
import { startAccountsServer } from '../../apps/server/test/app/accounts-server.ts';
import { grantTo } from '../../apps/server/test/app/flow.ts';
import { startNameServer } from '../../apps/server/test/app/name-server.ts';
import { samlKeys } from '../../apps/server/test/app/saml-provider.ts';
import { addOidc, besideProvider, registerAt } from '../../apps/server/test/app/signing-on.ts';
import { signatureOf, standInForStripe, subscriptionObject } from '../../apps/server/test/app/stripe.ts';
import { transmitterAt } from '../../apps/server/test/app/transmitter.ts';
import { credentialVerifier } from '../../docs/guides/examples/verify-credential.ts';
import { blocksOf, listening } from './steps.ts';

const stepsOf = (guide: string) => blocksOf(`docs/guides/${guide}.md`, 'sh');
const linesOf = (told: string) => told.trim().split('\n');
/** The functions of the shell that the first block of a guide makes. */
const toolsOf = (block: string) => block.split('\n').slice(0, 3).join('\n');

test('a budget, step by step, is debited once, refunded, and adds up', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });

  const told = await shell(stepsOf('set-a-budget').join('\n'), { KEY: acme.apiKey });

  expect(linesOf(told)).toEqual([
    '79.5000',
    'INSUFFICIENT_BUDGET',
    '100.0000',
    '100.0000',
    expect.stringMatching(/^(-20.5000 120.5000|120.5000 -20.5000)$/), // both in one instant here
    'true',
  ]);
});

test('a grant, step by step, is proved with credentials and a passport, which are revoked', async () => {
  const { shell } = await listening();

  const told = await shell(stepsOf('prove-a-grant-with-a-credential').join('\n'), {});

  const good = ['3', 'AgentGrantCredential', 'true', 'user_42', 'undefined', '5.50'];
  expect(linesOf(told)).toEqual([...good, 'revoked', 'revoked', 'revoked']);
});

test('a credential is verified offline by the code of the guide, and refused once it is not good', async () => {
  const { asDeveloper, baseUrl, app } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { grantId } = await grantTo(acme);
  const made = (await acme('POST', '/v1/credentials', { grantId, format: 'vc-jwt' })).json();
  const { id: did } = (await app.inject('/.well-known/did.json')).json();
  const { developerId } = acme;
  const verify = credentialVerifier({ baseUrl, did, developerId, allowSandbox: true });
  const strict = credentialVerifier({ baseUrl, did, developerId });
  const stranger = credentialVerifier({ baseUrl, did, developerId: 'dev_other' });

  expect((await verify(made.credential)).credentialSubject).toMatchObject({ grantId, developerId });
  await expect(stranger(made.credential)).rejects.toThrow('another account');
  await expect(strict(made.credential)).rejects.toThrow('sandbox account');
  await expect(verify(made.credential.slice(0, -8))).rejects.toThrow('signature');
  await acme('DELETE', `/v1/grants/${grantId}`);
  await expect(verify(made.credential)).rejects.toThrow('revoked');
});

test('an account, step by step, is stopped and resumed', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { grantToken } = await grantTo(acme);

  const told = await shell(stepsOf('notice-and-stop').slice(5).join('\n'), {
    KEY: acme.apiKey,
    TOKEN: grantToken,
  });

  expect(linesOf(told)).toEqual([
    'The agents act strangely.',
    '{"valid":false,"reason":"agent_inactive"}',
    'account.stopped The agents act strangely.',
    'null',
    'true',
  ]);
});

test('the usage of an account, step by step', async () => {
  const { shell, asDeveloper, clock } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { grantToken } = await grantTo(acme);
  await acme('POST', '/v1/tokens/verify', { token: grantToken });

  const told = await shell(stepsOf('plans-and-usage').slice(0, 2).join('\n'), { KEY: acme.apiKey });

  const today = clock().toISOString().slice(0, 10);
  expect(linesOf(told)).toEqual(['1', '3', '50000', `${today} 3`]);
});

test('a domain, step by step, is proved, named by consent links, and given up', async () => {
  const dns = await startNameServer();
  onTestFinished(() => dns.close());
  const env = { DNS_RESOLVERS: dns.address, CUSTOM_DOMAIN_PAGES: 'true' };
  const { shell, asDeveloper } = await listening(env);
  const acme = await asDeveloper({ mode: 'sandbox' });
  const [register = '', ...others] = stepsOf('use-a-domain-of-your-own');

  const [name = '', value = '', id = ''] = linesOf(
    await shell(`${register}\necho "$ID"`, { KEY: acme.apiKey }),
  );
  dns.records.set(name, ['a record of another', value]);
  const tools = toolsOf(register);
  const told = await shell(`${tools}\nID=${id}\n${others.join('\n')}`, { KEY: acme.apiKey });

  expect(name).toBe('_behest-challenge.consent.acme.com');
  expect(linesOf(told)).toEqual([
    'consent.acme.com is verified.',
    expect.stringMatching(/^https?:\/\/consent\.acme\.com\/consent\?req=areq_/),
    '204',
  ]);
});

test('plans, step by step, are paid for at a stand-in for Stripe', async () => {
  const stripe = await standInForStripe();
  onTestFinished(() => void stripe.close());
  const { shell, asDeveloper, baseUrl, clock, db } = await listening(stripe.env);
  const acme = await asDeveloper();
  const [usage = '', , pay = '', change = ''] = stepsOf('plans-and-usage');
  const tools = toolsOf(usage);
  const [checkoutUrl = ''] = linesOf(await shell(`${tools}\n${pay}`, { KEY: acme.apiKey }));

  const { customerId: customer } = await db
    .selectFrom('billingCustomers')
    .select('customerId')
    .where('developerId', '=', acme.developerId)
    .executeTakeFirstOrThrow();
  const created = Math.floor(clock().getTime() / 1000);
  const periodEnd = created + 86_400;
  const paid = { id: 'sub_1', customer, status: 'active', price: 'price_pro', periodEnd };
  stripe.subscriptions.set('sub_1', paid);
  const data = { object: subscriptionObject(paid) };
  const body = JSON.stringify({
    id: 'evt_1',
    object: 'event',
    type: 'customer.subscription.created',
    created,
    data,
  });
  const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(body, clock()) };
  const heard = await fetch(`${baseUrl}/v1/billing/webhook`, { method: 'POST', headers, body });
  const [post = ''] = pay.split('\n');
  const told = await shell(`${tools}\n${post}\n${change}`, { KEY: acme.apiKey });

  expect(checkoutUrl).toMatch(/^https:\/\/stripe\.test\//);
  expect(heard.status).toBe(200);
  expect(linesOf(told)).toEqual(['pro', expect.stringMatching(/^https:\/\/stripe\.test\//)]);
});

test('people are provisioned, an agent asks one of them, and another leaves', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });

  const steps = stepsOf('provision-people').slice(0, 3).join('\n');
  const told = await shell(steps, { KEY: acme.apiKey });

  expect(linesOf(told)).toEqual([expect.stringMatching(/^scimuser_/), 'approved', 'false']);
});

test('people sign in with OpenID Connect, step by step', async () => {
  const provider = await startAccountsServer();
  const { shell, asDeveloper, baseUrl } = await listening(besideProvider().env);
  const acme = await asDeveloper();
  const client = await registerAt(provider, baseUrl);
  const env = { BASE: baseUrl, KEY: acme.apiKey, ORG: acme.developerId, ISSUER: provider.issuer, ...client };
  const [add = '', ask = '', begin = '', exchange = ''] = stepsOf('sign-people-in-with-openid-connect');

  const begun = linesOf(await shell([add, ask, begin].join('\n'), env));
  const back = await provider.visit(String(begun[2]));
  const { code: CODE = '', state: STATE = '' } = Object.fromEntries(back.searchParams);
  const tools = toolsOf(add);
  const told = await shell(`${tools}\n${exchange}`, { ...env, CODE, STATE });

  expect(begun.slice(0, 2)).toEqual(['true', 'sso']);
  expect(linesOf(told)).toEqual([expect.stringMatching(/^sso_\w+\|ada$/)]);
});

test('a SAML connection, step by step, has metadata', async () => {
  const { shell, asDeveloper, baseUrl } = await listening();
  const acme = await asDeveloper();
  const CERTIFICATE = samlKeys.idp.cert.replace(/-----[A-Z ]+-----|\s/g, '');

  const steps = stepsOf('sign-people-in-with-saml').join('\n');
  const told = await shell(steps, { BASE: baseUrl, KEY: acme.apiKey, CERTIFICATE });

  expect(linesOf(told)).toEqual(['true', '1']);
});

const connections = ['openid-connect', 'saml'].flatMap((way) =>
  blocksOf(`docs/guides/sign-people-in-with-${way}.md`, 'json').map((body) => JSON.parse(body)),
);

test('the guides have a connection for each provider that they name', () => {
  const names = ['Okta', 'Entra ID', 'Google Workspace', 'Keycloak', 'Active Directory'];
  expect(connections.map(({ name }) => name)).toEqual(names);
});

test.each(connections)('the service takes the connection of the guide for $name', async (body) => {
  const { asDeveloper } = await listening();
  const acme = await asDeveloper();

  const added = await acme('POST', '/v1/sso/connections', body);

  expect(added.json()).toMatchObject({ id: expect.stringMatching(/^sso_/), name: body.name });
  expect(added.statusCode).toBe(201);
});

test('an identity provider is listened to, step by step', async () => {
  const provider = await startAccountsServer();
  const service = await listening({ SSO_ALLOW_PRIVATE_HOSTS: 'true', SSO_ALLOW_INSECURE_URLS: 'true' });
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { id: CONNECTION } = await addOidc(acme, provider);
  await transmitterAt(service, provider);

  const [token = '', , , , ...signals] = stepsOf('provision-people');
  const tools = token.split('\n').slice(0, 2);
  const steps = [...tools, ...signals].join('\n');
  const told = await service.shell(steps, { KEY: acme.apiKey, CONNECTION });

  expect(linesOf(told)).toEqual(['idp', 'push']);
});

test('a system of the developer hears signals, step by step', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });

  const told = await shell(stepsOf('tell-your-other-systems').join('\n'), { KEY: acme.apiKey });

  expect(linesOf(told).slice(-2)).toEqual(['enabled', 'delivered']);
});

test('a customer’s administrator gets a link, step by step', async () => {
  const { shell, asDeveloper } = await listening();
  const acme = await asDeveloper({ mode: 'sandbox' });

  const told = await shell(stepsOf('let-a-customer-set-up-sign-in').join('\n'), { KEY: acme.apiKey });

  expect(linesOf(told)).toEqual(['Initech', 'open']);
});
