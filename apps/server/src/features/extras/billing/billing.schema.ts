import { Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Plan = Type.Enum(['free', 'pro', 'enterprise']);
const NullableTime = Type.Union([Time, Type.Null()]);
const Url = Type.String({ minLength: 1, maxLength: 2048 });

export type Subscription = Static<typeof Subscription>;
export const Subscription = Type.Object({
  plan: Plan,
  status: Type.Enum(['active', 'past_due', 'canceled']),
  currentPeriodEnd: NullableTime,
  /** The plan whose limits count now. */
  effectivePlan: Plan,
  cancelAtPeriodEnd: Type.Boolean(),
  /** The end of the paid limits after a payment that failed. */
  graceEndsAt: NullableTime,
});

export type CheckoutRequest = Static<typeof CheckoutRequest>;
export const CheckoutRequest = Type.Object(
  { plan: Type.Enum(['pro', 'enterprise']), successUrl: Url, cancelUrl: Url },
  { additionalProperties: false },
);
export const CheckoutSession = Type.Object({ checkoutUrl: Type.String() });

export type PortalRequest = Static<typeof PortalRequest>;
export const PortalRequest = Type.Object({ returnUrl: Url }, { additionalProperties: false });
export const PortalSession = Type.Object({ portalUrl: Type.String() });

/** An event of the provider. The signature is over its bytes. */
export const ProviderEvent = Type.Object({}, { additionalProperties: true });
export const BillingEventReceipt = Type.Object({ received: Type.Literal(true) });
