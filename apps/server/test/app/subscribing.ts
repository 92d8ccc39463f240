import type { Developer, Service } from './start-app.ts';
import { type StoodIn, signatureOf, type standInForStripe, subscriptionObject } from './stripe.ts';

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
