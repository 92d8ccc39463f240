import { afterAll, test } from 'vitest';
import { deleteForgotten } from '../../src/features/accounts/domains/manage.ts';
import { checkDomains } from '../../src/features/accounts/domains/verify.ts';
import { endGraces } from '../../src/features/extras/billing/receive.ts';
import { txtReader } from '../../src/platform/egress/dns.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { startNameServer } from '../app/name-server.ts';
import type { Developer, Service } from '../app/start-app.ts';
import { signatureOf, standInForStripe, subscriptionObject } from '../app/stripe.ts';

const dns = await startNameServer();
const stripe = await standInForStripe();
afterAll(() => Promise.all([dns.close(), stripe.close()]));

const { race } = interleaving({
  env: { ...stripe.env, DNS_RESOLVERS: dns.address, PLAN_FREE_DOMAINS: '1' },
});

let names = 0;

async function pending(acme: Developer) {
  names += 1;
  const domain = `acme-${names}.test`;
  const { id, verificationToken } = (await acme('POST', '/v1/domains', { domain })).json();
  dns.records.set(`_behest-challenge.${domain}`, [verificationToken]);
  return { id: String(id), domain };
}
type Registered = Awaited<ReturnType<typeof pending>>;

const verify = ({ acme }: Side, { id }: Registered) => acme('POST', `/v1/domains/${id}/verify`, {});
const removeDomain = ({ acme }: Side, { id }: Registered) => acme('DELETE', `/v1/domains/${id}`);

test('two registrations of domains where there is room for one', () =>
  race({
    prepare: async () => ({}),
    one: ({ acme }) => acme('POST', '/v1/domains', { domain: 'one.test' }),
    other: ({ acme }) => acme('POST', '/v1/domains', { domain: 'other.test' }),
    answers: ['201, 402 PLAN_LIMIT_EXCEEDED', '402 PLAN_LIMIT_EXCEEDED, 201'],
  }));
test('two verifications of a domain', () => race({ prepare: pending, one: verify, answers: ['200, 200'] }));
test('a verification of a domain, and its deletion', () =>
  race({ prepare: pending, one: verify, other: removeDomain, answers: ['200, 204', '404 NOT_FOUND, 204'] }));
test('two deletions of a domain', () =>
  race({ prepare: pending, one: removeDomain, answers: ['204, 404 NOT_FOUND', '404 NOT_FOUND, 204'] }));

const DAY = 86_400_000;

async function verified(acme: Developer) {
  const held = await pending(acme);
  await acme('POST', `/v1/domains/${held.id}/verify`, {});
  return held;
}

/** Makes a row of the developer older by these columns. */
const backdate = ({ db, clock }: Service, { developerId }: Developer, days: Record<string, number>) =>
  db
    .updateTable('customDomains')
    .set(Object.fromEntries(Object.entries(days).map(([column, ago]) => [column, daysAgo(clock(), ago)])))
    .where('developerId', '=', developerId)
    .execute();
const daysAgo = (now: Date, days: number) => new Date(now.getTime() - days * DAY);

async function checkAll({ service: { db, clock } }: Side): Promise<undefined> {
  await checkDomains({ db, clock, readTxt: txtReader([dns.address]) });
}

async function gone(acme: Developer, service: Service) {
  const held = await verified(acme);
  dns.records.delete(`_behest-challenge.${held.domain}`);
  await backdate(service, acme, { lastCheckedAt: 2, missingSince: 4 });
  return held;
}

test('two processes that let a domain lapse', () =>
  race({ prepare: gone, one: checkAll, answers: ['done, done'] }));
test('the lapse of a domain, and its deletion', () =>
  race({ prepare: gone, one: checkAll, other: removeDomain, answers: ['done, 204'] }));
test('two processes that delete a forgotten registration', () =>
  race({
    async prepare(acme, service) {
      const held = await pending(acme);
      await backdate(service, acme, { createdAt: 31 });
      return held;
    },
    one: async ({ service }) => void (await deleteForgotten(service)),
    answers: ['done, done'],
  }));

const url = 'https://app.acme.test/billing';
const checkOut = ({ acme }: Side) =>
  acme('POST', '/v1/billing/checkout', { plan: 'pro', successUrl: url, cancelUrl: url });

async function customer(acme: Developer, service: Service) {
  await checkOut({ acme, service });
  return acme.developerId.slice(-26);
}

/** Tells of the subscription of a customer as the provider has it now. */
function tell({ app, clock }: Service, name: string, event: string) {
  const object = stripe.subscriptions.get(`sub_${name}`);
  if (!object) throw new Error(`sub_${name} is unknown`);
  const body = JSON.stringify({
    id: `${event}_${name}`,
    object: 'event',
    type: 'customer.subscription.updated',
    created: Math.floor(clock().getTime() / 1000),
    data: { object: subscriptionObject(object) },
  });
  const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(body, clock()) };
  return app.inject({ method: 'POST', url: '/v1/billing/webhook', headers, payload: body });
}

function subscribe({ clock }: Service, name: string, status: string) {
  const periodEnd = Math.floor(clock().getTime() / 1000) + 2_592_000;
  const id = `sub_${name}`;
  stripe.subscriptions.set(id, { id, customer: `cus_${name}`, status, price: 'price_pro', periodEnd });
}

async function inGrace(acme: Developer, service: Service) {
  const name = await customer(acme, service);
  subscribe(service, name, 'past_due');
  await tell(service, name, 'first');
  await service.db
    .updateTable('subscriptions')
    .set({ graceEndsAt: service.clock() })
    .where('developerId', '=', acme.developerId)
    .execute();
  return name;
}

async function endAll({ service }: Side): Promise<undefined> {
  await endGraces({ ...service, publishChange: async () => {} });
}

test('two checkouts of a new customer', () =>
  race({ prepare: async () => ({}), one: checkOut, answers: ['201, 201'] }));
test('two copies of an event of the provider', () =>
  race({
    async prepare(acme, service) {
      const name = await customer(acme, service);
      subscribe(service, name, 'active');
      return name;
    },
    one: ({ service }, name) => tell(service, name, 'first'),
    answers: ['200, 200'],
  }));
test('two processes that end a grace', () =>
  race({ prepare: inGrace, one: endAll, answers: ['done, done'] }));
test('the end of a grace, and a payment', () =>
  race({
    prepare: inGrace,
    one: endAll,
    other({ service }, name) {
      subscribe(service, name, 'active');
      return tell(service, name, 'second');
    },
    answers: ['done, 200'],
  }));

const manifest = (version: string) => ({
  $schema: 'https://behest.dev/schemas/manifest-0.6.json',
  connector: 'acme_mail',
  version,
  tools: { send: 'write' },
});
const put =
  (version: string) =>
  ({ acme }: Pick<Side, 'acme'>) =>
    acme('PUT', '/v1/manifests/acme_mail', manifest(version));

test('two manifests of a connector', () =>
  race({
    prepare: async () => ({}),
    one: put('1.0.0'),
    other: put('1.0.1'),
    answers: ['201, 200', '200, 201'],
  }));
test('a manifest, and its deletion', () =>
  race({
    prepare: (acme) => put('1.0.0')({ acme }),
    one: put('1.0.1'),
    other: ({ acme }) => acme('DELETE', '/v1/manifests/acme_mail'),
    answers: ['200, 204', '201, 204'],
  }));
test('a manifest, and the end of the account', () =>
  race({
    prepare: async () => ({}),
    one: put('1.0.0'),
    other: ({ acme }) => acme('POST', '/v1/me/close', { confirm: acme.developerId }),
    answers: ['201, 202', '401 UNAUTHORIZED, 202'],
  }));
test('the deletion of a manifest, and the end of the account', () =>
  race({
    prepare: (acme) => put('1.0.0')({ acme }),
    one: ({ acme }) => acme('DELETE', '/v1/manifests/acme_mail'),
    other: ({ acme }) => acme('POST', '/v1/me/close', { confirm: acme.developerId }),
    answers: ['204, 202', '401 UNAUTHORIZED, 202'],
  }));
