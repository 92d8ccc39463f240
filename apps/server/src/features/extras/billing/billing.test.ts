import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { send as sendAgain } from '../../../../test/app/repeating.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import {
  checkout as asked,
  type StoodIn,
  sendEvent as send,
  signatureOf,
  standInForStripe,
  subscribe,
  subscriptionObject,
} from '../../../../test/app/stripe.ts';
import { effectivePlan, isTimely } from './billing.rules.ts';
import { endGraces } from './receive.ts';

const DAY = 86_400;
const url = 'https://app.acme.test/billing';

let stripe: Awaited<ReturnType<typeof standInForStripe>>;
beforeAll(async () => {
  stripe = await standInForStripe();
});
afterAll(() => stripe.close());

const start = (env: Record<string, string> = {}) => startApp({ env: { ...stripe.env, ...env } });

const subscribed = async (service: Service, price?: string) =>
  subscribe(service, await service.asDeveloper(), { stripe, price });

const subscriptionOf = async (acme: Developer) => (await acme('GET', '/v1/billing/subscription')).json();

describe('without the settings of Stripe', () => {
  test('the subscription is that of the default plan, and the rest says that billing is off', async () => {
    const { asDeveloper, app } = await startApp();
    const acme = await asDeveloper();

    expect(await subscriptionOf(acme)).toEqual({
      plan: 'free',
      status: 'active',
      currentPeriodEnd: null,
      effectivePlan: 'free',
      cancelAtPeriodEnd: false,
      graceEndsAt: null,
    });
    const off = [
      await acme('POST', '/v1/billing/checkout', asked),
      await acme('POST', '/v1/billing/portal', { returnUrl: url }),
      await app.inject({ method: 'POST', url: '/v1/billing/webhook', payload: {} }),
    ];
    expect(off.map(refusalOf)).toEqual(Array(3).fill('503 NOT_CONFIGURED'));
  });
});

describe('a checkout', () => {
  test('leads to the provider, with one customer for the developer', async () => {
    const { asDeveloper } = await start();
    const acme = await asDeveloper();
    const before = stripe.calls.length;

    const first = await acme('POST', '/v1/billing/checkout', asked);
    const second = await acme('POST', '/v1/billing/checkout', { ...asked, plan: 'enterprise' });

    expect([first.statusCode, first.json()]).toEqual([
      201,
      { checkoutUrl: expect.stringMatching(/^https:\/\/stripe\.test\//) },
    ]);
    const calls = stripe.calls.slice(before);
    expect(calls.map(({ path }) => path)).toEqual([
      '/v1/customers',
      '/v1/checkout/sessions',
      '/v1/checkout/sessions',
    ]);
    expect(calls[0]?.idempotencyKey).toBe(`customer-${acme.developerId}`);
    expect(Object.fromEntries(calls[1]?.form ?? [])).toMatchObject({
      mode: 'subscription',
      client_reference_id: acme.developerId,
      'line_items[0][price]': 'price_pro',
      'subscription_data[metadata][developer_id]': acme.developerId,
      success_url: url,
    });
    expect(calls[2]?.form.get('line_items[0][price]')).toBe('price_enterprise');
    expect(calls[2]?.idempotencyKey).not.toBe(calls[1]?.idempotencyKey); // or the first would come again
    expect(second.statusCode).toBe(201);
    expect(await entriesOf(acme, 'billing.checkout_created')).toMatchObject([
      { status: 'success', metadata: { plan: 'pro' } },
      { metadata: { plan: 'enterprise' } },
    ]);
  });

  test.each([
    [{ ...asked, plan: 'free' }],
    [{ ...asked, successUrl: 'app.acme.test' }],
    [{ ...asked, cancelUrl: 'https://user:secret@app.acme.test' }],
    [{ ...asked, successUrl: 'javascript:alert(1)' }],
    [{ plan: 'pro' }],
  ])('is refused: case %#', async (body) => {
    const { asDeveloper } = await start();

    const answer = await (await asDeveloper())('POST', '/v1/billing/checkout', body);

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
  });

  test('is a conflict beside a subscription, and an upstream error when the provider fails', async () => {
    const service = await start();
    const { acme, tell } = await subscribed(service);
    await tell('customer.subscription.created');
    expect(refusalOf(await acme('POST', '/v1/billing/checkout', asked))).toBe('409 CONFLICT');

    stripe.state.isAway = true;
    const failed = await (await service.asDeveloper())('POST', '/v1/billing/checkout', asked);
    stripe.state.isAway = false;

    expect(refusalOf(failed)).toBe('502 UPSTREAM_ERROR');
    expect(failed.json().details).toEqual({ service: 'stripe' });
    expect(failed.body).not.toContain('a text of the provider');
  });
});

test('I13: a checkout and a portal that come again with their `Idempotency-Key` ask the provider once', async () => {
  const service = await start();
  const acme = await service.asDeveloper();
  const again = (path: string, body: object) =>
    sendAgain(service, { apiKey: acme.apiKey, url: `/v1/billing/${path}`, body });
  const before = stripe.calls.length;
  stripe.state.isAway = true;
  const failed = await again('checkout', asked);
  stripe.state.isAway = false;
  const afterFailure = stripe.calls.length;

  const checkouts = [await again('checkout', asked), await again('checkout', asked)];
  const other = await again('checkout', { ...asked, plan: 'enterprise' });
  const portals = [await again('portal', { returnUrl: url }), await again('portal', { returnUrl: url })];

  expect([refusalOf(failed), refusalOf(other)]).toEqual(['502 UPSTREAM_ERROR', '409 IDEMPOTENCY_CONFLICT']);
  for (const [first, second] of [checkouts, portals]) {
    expect([first?.statusCode, second?.body]).toEqual([201, first?.body]);
    expect(second?.headers['idempotency-replayed']).toBe('true');
  }
  expect(afterFailure).toBeGreaterThan(before);
  expect(stripe.calls.slice(afterFailure).map(({ path }) => path)).toEqual([
    '/v1/customers',
    '/v1/checkout/sessions',
    '/v1/billing_portal/sessions',
  ]);
  expect(await entriesOf(acme, 'billing.checkout_created')).toHaveLength(1);
  expect(await entriesOf(acme, 'billing.portal_created')).toHaveLength(1);
});

test('the portal is there for a customer, and for nobody else', async () => {
  const service = await start();
  const { acme } = await subscribed(service);
  const without = await service.asDeveloper();

  const answer = await acme('POST', '/v1/billing/portal', { returnUrl: url });

  expect([answer.statusCode, answer.json()]).toEqual([201, { portalUrl: expect.any(String) }]);
  expect(await entriesOf(acme, 'billing.portal_created')).toHaveLength(1);
  expect(refusalOf(await without('POST', '/v1/billing/portal', { returnUrl: url }))).toBe('400 BAD_REQUEST');
});

describe('an event of the provider', () => {
  test('changes the plan, and with it the limits of the next request on every instance', async () => {
    const service = await start({ RATE_LIMIT_PLAN_FREE: '1000', RATE_LIMIT_PLAN_PRO: '2000' });
    const second = await startApp({
      env: { ...stripe.env, RATE_LIMIT_PLAN_FREE: '1000', RATE_LIMIT_PLAN_PRO: '2000' },
    });
    const { acme, tell } = await subscribed(service);
    const there = second.calling(acme.apiKey);
    for (let time = 0; time < 3; time += 1) await there('GET', '/v1/me'); // it knows the caller by now
    const limitOf = async () => (await there('GET', '/v1/me')).headers['x-ratelimit-limit'];
    const before = await limitOf();

    const answer = await tell('customer.subscription.created');

    expect([answer.statusCode, answer.json()]).toEqual([200, { received: true }]);
    expect([before, await limitOf()]).toEqual(['1000', '2000']);
    expect((await there('GET', '/v1/me')).json().plan).toBe('pro');
    expect(await subscriptionOf(acme)).toMatchObject({
      plan: 'pro',
      status: 'active',
      effectivePlan: 'pro',
      currentPeriodEnd: '2026-01-31T00:00:00.000Z',
    });
    const [changed] = await entriesOf(acme, 'billing.plan_changed');
    expect(changed?.metadata).toMatchObject({
      plan: 'pro',
      previousPlan: 'free',
      status: 'active',
      previousStatus: 'active',
      currentPeriodEnd: '2026-01-31T00:00:00.000Z',
    });
  });

  test('counts once, however often it comes', async () => {
    const service = await start();
    const { acme, tell } = await subscribed(service);

    const answers = await Promise.all(
      Array.from({ length: 5 }, () => tell('customer.subscription.created', {}, { id: 'evt_once' })),
    );

    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200, 200]);
    expect(await entriesOf(acme, 'billing.plan_changed')).toHaveLength(1);
  });

  test('is taken for what the subscription is now, in whatever order events come', async () => {
    const service = await start();
    const { acme, tell, told } = await subscribed(service);
    await tell('customer.subscription.created');
    await tell('customer.subscription.deleted', { status: 'canceled' });
    const late = { ...subscriptionObject({ ...told(), status: 'active' }) };

    await send(service, 'customer.subscription.updated', late);
    expect(await subscriptionOf(acme)).toMatchObject({
      plan: 'free',
      status: 'canceled',
      effectivePlan: 'free',
    });

    stripe.state.isAway = true; // its own state counts then, unless a later event has come
    await send(service, 'customer.subscription.updated', late, { created: 1 });
    const invoice = {
      object: 'invoice',
      customer: told().customer,
      parent: { subscription_details: { subscription: told().id } },
    };
    const unknown = await send(service, 'invoice.paid', invoice);
    stripe.state.isAway = false;

    expect(await subscriptionOf(acme)).toMatchObject({ status: 'canceled' });
    expect(unknown.statusCode).toBe(500); // so that the provider sends it again
  });

  describe('while the provider does not answer', () => {
    /** Sends an event whose own state counts. */
    async function sendAlone(service: Service, told: StoodIn, event: object) {
      stripe.state.isAway = true;
      await send(service, 'customer.subscription.updated', subscriptionObject(told), event);
      stripe.state.isAway = false;
    }

    test('counts once, and after those of the same second that came before', async () => {
      const service = await start();
      const { acme, tell, told } = await subscribed(service);
      await tell('customer.subscription.created');

      await sendAlone(service, told(), { id: 'evt_first' });
      await sendAlone(service, { ...told(), status: 'canceled' }, { id: 'evt_second' });
      await sendAlone(service, told(), { id: 'evt_first' });

      expect(await subscriptionOf(acme)).toMatchObject({ status: 'canceled' });
    });

    test('counts unless it is older than the latest, also when older ones came after that', async () => {
      const service = await start();
      const { acme, tell, told } = await subscribed(service);
      await tell('customer.subscription.created');
      await tell('customer.subscription.updated', {}, { created: 1 });

      await sendAlone(service, { ...told(), status: 'canceled' }, { created: 2 });

      expect(await subscriptionOf(acme)).toMatchObject({ status: 'active' });
    });
  });

  test('about the next subscription counts after the end of the former one, paid or not', async () => {
    const service = await start();
    const { acme, tell, told } = await subscribed(service);
    await tell('customer.subscription.created');
    await tell('customer.subscription.deleted', { status: 'canceled' });

    await tell('customer.subscription.created', { id: `${told().id}_next`, status: 'incomplete' });

    expect(await subscriptionOf(acme)).toMatchObject({ status: 'past_due', effectivePlan: 'free' });
  });

  test('is asked about again when another event came between the question and its answer', async () => {
    const service = await start();
    const { acme, id, tell, told } = await subscribed(service);
    await tell('customer.subscription.created');
    stripe.state.onSubscription = async () => {
      stripe.state.onSubscription = undefined;
      await tell('customer.subscription.deleted', { status: 'canceled' });
    };

    const slow = await send(service, 'customer.subscription.updated', subscriptionObject(told()));

    expect(slow.statusCode).toBe(200);
    expect(stripe.subscriptions.get(id)?.status).toBe('canceled'); // the slow answer said `active`
    expect(await subscriptionOf(acme)).toMatchObject({ status: 'canceled', effectivePlan: 'free' });
  });

  test.each([
    ['trialing', 'active', 'pro'],
    ['past_due', 'past_due', 'pro'],
    ['unpaid', 'past_due', 'pro'],
    ['paused', 'past_due', 'pro'],
    ['incomplete', 'past_due', 'free'],
    ['canceled', 'canceled', 'free'],
    ['incomplete_expired', 'canceled', 'free'],
  ])(
    'about a subscription that is %s leaves it %s, with the limits of %s',
    async (status, shown, effectivePlan) => {
      const service = await start();
      const { acme, tell } = await subscribed(service);

      await tell('customer.subscription.updated', { status });

      expect(await subscriptionOf(acme)).toMatchObject({ status: shown, effectivePlan });
      expect((await acme('GET', '/v1/me')).json().plan).toBe(effectivePlan);
    },
  );

  test('about a failed payment leaves the plan for a while, and a paid invoice ends the wait', async () => {
    const service = await start({ BILLING_GRACE_DAYS: '2' });
    const { acme, tell } = await subscribed(service, 'price_enterprise');
    const planOf = async () => (await acme('GET', '/v1/me')).json().plan;
    const publishChange = async () => {};
    await tell('customer.subscription.created');
    await tell('invoice.payment_failed', { status: 'past_due' });
    service.advance(DAY);
    await tell('invoice.payment_failed');
    expect((await subscriptionOf(acme)).graceEndsAt).toBe('2026-01-03T00:00:00.000Z');
    await endGraces({ ...service, publishChange });
    expect(await planOf()).toBe('enterprise');

    service.advance(DAY);
    await endGraces({ ...service, publishChange });
    expect(await subscriptionOf(acme)).toMatchObject({ status: 'past_due', effectivePlan: 'free' });
    service.advance(10);
    expect(await planOf()).toBe('free');

    await tell('invoice.paid', { status: 'active' });
    expect([await planOf(), (await subscriptionOf(acme)).graceEndsAt]).toEqual(['enterprise', null]);
    expect((await entriesOf(acme, 'billing.plan_changed')).map(({ metadata }) => metadata.plan)).toEqual([
      'enterprise',
      'enterprise',
      'free',
      'enterprise',
    ]);
  });

  test('gives no plan for a price that is not the service’s, and none by its metadata', async () => {
    const service = await start();
    const { acme, tell } = await subscribed(service, 'price_of_another');

    expect((await tell('customer.subscription.created')).statusCode).toBe(200);
    const foreign = {
      ...subscriptionObject({
        id: 'sub_x',
        customer: 'cus_of_nobody',
        status: 'active',
        price: 'price_pro',
        periodEnd: 1,
      }),
    };
    const named = { ...foreign, metadata: { developer_id: acme.developerId } };
    expect((await send(service, 'customer.subscription.created', named)).statusCode).toBe(200);

    expect(await subscriptionOf(acme)).toMatchObject({ plan: 'free' });
  });

  test('with another type is received and ignored', async () => {
    const answer = await send(await start(), 'customer.created', { object: 'customer' });

    expect([answer.statusCode, answer.json()]).toEqual([200, { received: true }]);
  });

  test.each([
    ['no signature', () => ''],
    ['a malformed one', () => 't=now,v1=abc'],
    ['that of another secret', (body: string, at: Date) => signatureOf(body, at, 'whsec_other')],
    ['that of another body', (_: string, at: Date) => signatureOf('{}', at)],
    ['an old one', (body: string, at: Date) => signatureOf(body, new Date(at.getTime() - 301_000))],
    ['one of the future', (body: string, at: Date) => signatureOf(body, new Date(at.getTime() + 301_000))],
  ])('with %s is refused, and changes nothing', async (_what, sign) => {
    const service = await start();
    const { acme, told } = await subscribed(service);
    const object = subscriptionObject(told());
    const event = {
      id: 'evt_forged',
      object: 'event',
      type: 'customer.subscription.created',
      created: 1,
      data: { object },
    };
    const payload = JSON.stringify(event);
    const post = (signature: string) =>
      service.app.inject({
        method: 'POST',
        url: '/v1/billing/webhook',
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
        payload,
      });

    expect(refusalOf(await post(sign(payload, service.clock())))).toBe('400 BAD_REQUEST');
    expect(await subscriptionOf(acme)).toMatchObject({ plan: 'free' });
    stripe.subscriptions.set(told().id, told());
    expect((await post(signatureOf(payload, service.clock()))).statusCode).toBe(200);
    expect(await subscriptionOf(acme)).toMatchObject({ plan: 'pro' });
  });
});

const now = new Date('2026-01-01T00:00:00Z');
const seconds = now.getTime() / 1000;

test.each([
  { off: -301, timely: false },
  { off: -300, timely: true },
  { off: 300, timely: true },
  { off: 301, timely: false },
])('a signature of $off seconds from now is timely: $timely', ({ off, timely }) => {
  expect(isTimely(`t=${seconds + off},v1=00`, now)).toBe(timely);
});

test('a grace ends at its instant', () => {
  const plan = (graceEndsAt: Date) => effectivePlan({ plan: 'pro', status: 'past_due', graceEndsAt }, now);

  expect(plan(new Date(now.getTime() + 1))).toBe('pro');
  expect(plan(now)).toBe('free');
});
