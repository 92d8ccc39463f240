import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Developer, Service } from './start-app.ts';

type Stripe = Awaited<ReturnType<typeof standInForStripe>>;

const DAY = 86_400;
const url = 'https://app.acme.test/billing';
export const checkout = { plan: 'pro', successUrl: url, cancelUrl: url };

let made = 0;

/** Has the developer pay for a plan. @returns a way to tell of the subscription */
export async function subscribe(
  service: Service,
  acme: Developer,
  { stripe, price = 'price_pro' }: { readonly stripe: Stripe; readonly price?: string | undefined },
) {
  await acme('POST', '/v1/billing/checkout', checkout);
  const customer = await service.db
    .selectFrom('billingCustomers')
    .select('customerId')
    .where('developerId', '=', acme.developerId)
    .executeTakeFirstOrThrow();
  made += 1;
  const id = `sub_${made}`;
  const periodEnd = service.clock().getTime() / 1000 + 30 * DAY;
  let told: StoodIn = { id, customer: customer.customerId, status: 'active', price, periodEnd };

  /** Changes the subscription at the provider, and sends an event about it. */
  const tell = (type: string, change: Partial<StoodIn> = {}, event: object = {}) => {
    told = { ...told, ...change };
    stripe.subscriptions.set(told.id, told);
    const object = type.startsWith('customer.')
      ? subscriptionObject(told)
      : {
          object: 'invoice',
          customer: told.customer,
          parent: { subscription_details: { subscription: id } },
        };
    return sendEvent(service, type, object, event);
  };
  return { acme, id, tell, told: () => told };
}

let events = 0;

/** Sends a signed event of Stripe. */
export function sendEvent({ app, clock }: Service, type: string, object: object, event: object = {}) {
  events += 1;
  const created = Math.floor(clock().getTime() / 1000);
  const body = JSON.stringify({
    id: `evt_${events}`,
    object: 'event',
    type,
    created,
    data: { object },
    ...event,
  });
  const headers = { 'content-type': 'application/json', 'stripe-signature': signatureOf(body, clock()) };
  return app.inject({ method: 'POST', url: '/v1/billing/webhook', headers, payload: body });
}

/** A subscription as Stripe's API shows it. */
export interface StoodIn {
  readonly id: string;
  readonly customer: string;
  readonly status: string;
  readonly price: string;
  readonly periodEnd: number;
}

const STRIPE_ENV = {
  STRIPE_SECRET_KEY: 'sk_test_stand_in',
  STRIPE_WEBHOOK_SECRET: 'whsec_stand_in',
  STRIPE_PRICE_PRO: 'price_pro',
  STRIPE_PRICE_ENTERPRISE: 'price_enterprise',
};

export const subscriptionObject = ({ id, customer, status, price, periodEnd }: StoodIn) => ({
  id,
  object: 'subscription',
  customer,
  status,
  cancel_at_period_end: false,
  items: {
    object: 'list',
    data: [{ id: 'si_1', object: 'subscription_item', current_period_end: periodEnd, price: { id: price } }],
  },
});

/** Speaks the part of Stripe's HTTP that the service uses. */
export async function standInForStripe() {
  const calls: { path: string; form: URLSearchParams; idempotencyKey: string | undefined }[] = [];
  const subscriptions = new Map<string, StoodIn>();
  /** `onSubscription` runs between a subscription's reading and the answer. */
  const state: { isAway: boolean; onSubscription?: (() => Promise<unknown>) | undefined } = { isAway: false };

  const answerTo = (path: string, key = ''): object | undefined => {
    const [, id = ''] = /^\/v1\/subscriptions\/(\w+)$/.exec(path) ?? [];
    const found = subscriptions.get(id);
    if (found) return subscriptionObject(found);
    // The same key gets the same customer.
    if (path === '/v1/customers') return { id: `cus_${key.slice(-26)}`, object: 'customer' };
    const url = `https://stripe.test/${calls.length}`;
    if (path === '/v1/checkout/sessions') return { id: 'cs_1', object: 'checkout.session', url };
    if (path === '/v1/billing_portal/sessions') return { id: 'bps_1', object: 'billing_portal.session', url };
    return undefined;
  };

  const server = createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    const [path = ''] = (request.url ?? '').split('?');
    const idempotencyKey = request.headers['idempotency-key']?.toString();
    const isKnown = request.headers.authorization === `Bearer ${STRIPE_ENV.STRIPE_SECRET_KEY}`;
    calls.push({ path, form: new URLSearchParams(body), idempotencyKey });
    const answer = isKnown && !state.isAway ? answerTo(path, idempotencyKey) : undefined;
    if (path.startsWith('/v1/subscriptions/')) await state.onSubscription?.();
    const error = { error: { type: 'api_error', message: 'a text of the provider' } };
    response.writeHead(answer ? 200 : 402, { 'content-type': 'application/json' });
    response.end(JSON.stringify(answer ?? error));
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo; // a TCP server has one
  return {
    calls,
    subscriptions,
    state,
    env: { ...STRIPE_ENV, STRIPE_API_URL: `http://127.0.0.1:${port}` },
    close: () => server.close(),
  };
}

/** The header over a body, as Stripe signs it. @see https://docs.stripe.com/webhooks#verify-manually */
export function signatureOf(body: string, at: Date, secret = STRIPE_ENV.STRIPE_WEBHOOK_SECRET): string {
  const time = Math.floor(at.getTime() / 1000);
  return `t=${time},v1=${createHmac('sha256', secret).update(`${time}.${body}`).digest('hex')}`;
}
