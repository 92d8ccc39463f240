import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { sentBytesOf } from '../../../platform/http/bodies/bodies.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import {
  BillingEventReceipt,
  CheckoutRequest,
  CheckoutSession,
  PortalRequest,
  PortalSession,
  ProviderEvent,
  Subscription,
} from './billing.schema.ts';
import { type EventDeps, receiveEvent } from './receive.ts';
import { createCheckout, createPortal, getSubscription } from './subscribe.ts';

const FULL = { access: 'developer', role: 'full', rate: 'default' } as const;

export const billingRoutes: FastifyPluginAsyncTypebox<EventDeps> = async (app, deps) => {
  app.get(
    '/v1/billing/subscription',
    {
      config: { ...FULL, capability: 'read', failures: [] },
      schema: {
        operationId: 'billing.subscription',
        summary: 'Get the subscription of the account',
        response: { 200: Subscription },
      },
    },
    (request) => getSubscription(deps, callerOf(request)),
  );

  app.post(
    '/v1/billing/checkout',
    {
      config: { ...FULL, capability: 'own', failures: ['CONFLICT', 'UPSTREAM_ERROR', 'NOT_CONFIGURED'] },
      schema: {
        operationId: 'billing.checkout',
        summary: 'Begin the payment of a plan',
        body: CheckoutRequest,
        response: { 201: CheckoutSession },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createCheckout(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.post(
    '/v1/billing/portal',
    {
      config: { ...FULL, capability: 'own', failures: ['UPSTREAM_ERROR', 'NOT_CONFIGURED'] },
      schema: {
        operationId: 'billing.portal',
        summary: 'Open the page on which the subscription is changed',
        body: PortalRequest,
        response: { 201: PortalSession },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createPortal(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.post(
    '/v1/billing/webhook',
    {
      config: { access: 'none', rate: 'default', failures: ['NOT_CONFIGURED'], keepsBytes: true },
      schema: {
        operationId: 'billing.webhook',
        summary: 'Receive an event of the payment provider',
        body: ProviderEvent,
        response: { 200: BillingEventReceipt },
      },
    },
    async (request) => {
      await receiveEvent(deps, sentBytesOf(request), String(request.headers['stripe-signature'] ?? ''));
      return { received: true as const };
    },
  );
};
