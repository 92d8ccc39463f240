import type Stripe from 'stripe';
import type { BillingEvent } from './billing.rules.ts';

export interface StripeSettings {
  readonly secretKey: string;
  readonly webhookSecret: string;
  readonly prices: { readonly pro: string; readonly enterprise: string };
  /** Replaces the provider's own address. */
  readonly apiUrl: string | undefined;
}

/** A verified event about a subscription. */
export interface ToldEvent {
  readonly id: string;
  readonly createdAt: Date;
  readonly customerId: string;
  /** Undefined for an event that concerns no subscription. */
  readonly subscriptionId: string | undefined;
  /** The subscription as it was then, if the event has it. */
  readonly subscription: BillingEvent | undefined;
}

export interface BillingProvider {
  createCustomer(developerId: string): Promise<string>;
  createCheckout(checkout: NewCheckout): Promise<string>;
  createPortal(customerId: string, returnUrl: string): Promise<string>;
  getSubscription(id: string): Promise<BillingEvent>;
  /** @returns undefined for an event of another kind. @throws when the signature is not the provider's */
  readEvent(bytes: Buffer, signature: string, now: Date): Promise<ToldEvent | undefined>;
}

export interface NewCheckout {
  readonly developerId: string;
  readonly customerId: string;
  readonly plan: 'pro' | 'enterprise';
  readonly successUrl: string;
  readonly cancelUrl: string;
  readonly requestId: string;
}

const TIMEOUT_MS = 10_000;
const HANDLED = new Set([
  'checkout.session.completed',
  'customer.subscription.created',
  'customer.subscription.updated',
  'customer.subscription.deleted',
  'invoice.payment_failed',
  'invoice.paid',
]);

/** Loads the provider's library at the first use: a service without billing never does. */
export function stripeProvider(settings: StripeSettings): BillingProvider {
  const { secretKey, webhookSecret, prices } = settings;
  let opened: Promise<Stripe> | undefined;
  const stripe = () => {
    opened ??= open(secretKey, settings.apiUrl);
    return opened;
  };

  return {
    async createCustomer(developerId) {
      const metadata = { developer_id: developerId };
      const options = { idempotencyKey: `customer-${developerId}` };
      return (await (await stripe()).customers.create({ metadata }, options)).id;
    },
    async createCheckout({ developerId, customerId, plan, successUrl, cancelUrl, requestId }) {
      const metadata = { developer_id: developerId };
      const session = await (await stripe()).checkout.sessions.create(
        {
          mode: 'subscription',
          customer: customerId,
          client_reference_id: developerId,
          line_items: [{ price: prices[plan], quantity: 1 }],
          success_url: successUrl,
          cancel_url: cancelUrl,
          metadata,
          subscription_data: { metadata },
        },
        { idempotencyKey: `checkout-${developerId}-${requestId}` },
      );
      return String(session.url);
    },
    async createPortal(customerId, returnUrl) {
      const portal = { customer: customerId, return_url: returnUrl };
      return (await (await stripe()).billingPortal.sessions.create(portal)).url;
    },
    getSubscription: async (id) => told(await (await stripe()).subscriptions.retrieve(id)),
    async readEvent(bytes, signature, now) {
      const { webhooks } = await stripe();
      const event = webhooks.constructEvent(
        ...([bytes, signature, webhookSecret, undefined, undefined, now.getTime()] as const),
      );
      if (!HANDLED.has(event.type)) return undefined;
      const { object } = event.data;
      const subscription = object.object === 'subscription' ? told(object) : undefined;
      return {
        id: event.id,
        createdAt: new Date(event.created * 1000),
        customerId: customerOf(object),
        subscriptionId: subscription?.id ?? subscriptionIdIn(object),
        subscription,
      };
    },
  };
}

async function open(secretKey: string, apiUrl: string | undefined): Promise<Stripe> {
  const { Stripe } = await import('stripe');
  const { protocol, hostname, port } = new URL(apiUrl ?? 'https://api.stripe.com');
  return new Stripe(secretKey, {
    protocol: protocol === 'http:' ? 'http' : 'https',
    host: hostname,
    port: port || (protocol === 'http:' ? '80' : '443'),
    timeout: TIMEOUT_MS,
    telemetry: false,
  });
}

/** The subscription of a session, and of an invoice in the provider's newer and older form. */
function subscriptionIdIn(object: object): string | undefined {
  const { subscription, parent } = object as { subscription?: unknown; parent?: unknown }; // the kinds differ
  const found = subscription ?? Object(Object(parent).subscription_details).subscription;
  return typeof found === 'string' ? found : Object(found).id;
}

/** An id, or the object where the account expands it. */
function customerOf(object: object): string {
  const { customer } = object as { customer?: unknown }; // the kinds differ
  return String(Object(customer).id ?? customer);
}

function told(subscription: Stripe.Subscription): BillingEvent {
  const [item] = subscription.items.data;
  return {
    id: subscription.id,
    customerId: customerOf(subscription),
    providerStatus: subscription.status,
    priceId: item?.price.id,
    currentPeriodEnd: item ? new Date(item.current_period_end * 1000) : null,
    cancelAtPeriodEnd: subscription.cancel_at_period_end,
  };
}
