import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  changeWebhook,
  deleteWebhook,
  getWebhook,
  listWebhooks,
  registerWebhook,
  rotateSecret,
} from './endpoints.ts';
import {
  type DeliveryDeps,
  getDelivery,
  listDeliveries,
  recoverDeliveries,
  redeliver,
  sendTest,
} from './history.ts';
import {
  CreatedWebhook,
  DeliveryPath,
  DeliveryQuery,
  NewWebhook,
  RecoveredDeliveries,
  RecoverRequest,
  RotatedWebhookSecret,
  Webhook,
  WebhookChange,
  WebhookDelivery,
  WebhookDeliveryDetail,
  WebhookDeliveryPage,
  WebhookPage,
  WebhookPath,
  WebhookQuery,
  WebhookSecretRotation,
  WebhookTest,
} from './webhooks.schema.ts';

export const rates = rateRules({
  webhookWrite: {
    perMinute: 30,
    describes: 'registering, changing and deleting webhooks, by developer',
    counts: [{ by: 'developer' }],
  },
});

export const webhookRoutes: FastifyPluginAsyncTypebox<DeliveryDeps> = async (app, deps) => {
  app.post(
    '/v1/webhooks',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        stepUp: true,
        role: 'full',
        rate: rates.webhookWrite,
        failures: ['PLAN_LIMIT_EXCEEDED'],
      },
      schema: {
        operationId: 'webhooks.create',
        summary: 'Register a webhook',
        description:
          '`events` names event types, areas as `grant.*`, or `*`, which leaves out `budget.debited`. With `format` `ocsf`, each delivery is an event of OCSF 1.6.0, signed as sent. Only this answer shows the secret.',
        body: NewWebhook,
        response: { 201: CreatedWebhook },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await registerWebhook(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/webhooks',
    {
      config: { access: 'developer', capability: 'read', role: 'full', rate: 'default', failures: [] },
      schema: {
        operationId: 'webhooks.list',
        summary: 'List webhooks, newest first',
        querystring: WebhookQuery,
        response: { 200: WebhookPage },
      },
    },
    (request) => listWebhooks(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/webhooks/:id',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'webhooks.get',
        summary: 'Read a webhook',
        params: WebhookPath,
        response: { 200: Webhook },
      },
    },
    (request) => getWebhook(deps, callerOf(request), request.params.id),
  );

  app.patch(
    '/v1/webhooks/:id',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        stepUp: (body) => Object(body).url !== undefined,
        role: 'full',
        rate: rates.webhookWrite,
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'webhooks.change',
        summary: 'Change a webhook; disable or enable it',
        params: WebhookPath,
        body: WebhookChange,
        response: { 200: Webhook },
      },
    },
    (request) => changeWebhook(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/webhooks/:id',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        role: 'full',
        rate: rates.webhookWrite,
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'webhooks.delete',
        summary: 'Delete a webhook',
        params: WebhookPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteWebhook(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/webhooks/:id/rotate-secret',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        stepUp: true,
        role: 'full',
        rate: rates.webhookWrite,
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'webhooks.rotateSecret',
        summary: 'Give a webhook a new secret',
        params: WebhookPath,
        body: WebhookSecretRotation,
        response: { 200: RotatedWebhookSecret },
      },
    },
    (request) => rotateSecret(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.post(
    '/v1/webhooks/:id/test',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'full',
        rate: rates.webhookWrite,
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'webhooks.test',
        summary: 'Send a test event to a webhook',
        params: WebhookPath,
        body: NoFields,
        response: { 202: WebhookTest },
      },
    },
    async (request, reply) =>
      reply.code(202).send(await sendTest(depsFor(request, deps), callerOf(request), request.params.id)),
  );

  app.get(
    '/v1/webhooks/:id/deliveries',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'webhooks.deliveries',
        summary: 'List deliveries of a webhook, newest first',
        description: 'Use `page` and `pageSize`, or `cursor` and `limit`, but not both.',
        params: WebhookPath,
        querystring: DeliveryQuery,
        response: { 200: WebhookDeliveryPage },
      },
    },
    (request) => listDeliveries(deps, callerOf(request), request.params.id, request.query),
  );

  app.get(
    '/v1/webhooks/:id/deliveries/:deliveryId',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'webhooks.delivery',
        summary: 'Read a delivery with its attempts and what is sent',
        params: DeliveryPath,
        response: { 200: WebhookDeliveryDetail },
      },
    },
    (request) => getDelivery(deps, callerOf(request), request.params),
  );

  app.post(
    '/v1/webhooks/:id/recover',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'full',
        rate: rates.webhookWrite,
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'webhooks.recover',
        summary: 'Deliver again what failed in a span of time',
        description:
          'Puts the failed deliveries of the events of at most 30 days back into the queue, oldest first, at most 10,000. Receivers know each event by its `webhook-id`.',
        params: WebhookPath,
        body: RecoverRequest,
        response: { 202: RecoveredDeliveries },
      },
    },
    async (request, reply) =>
      reply
        .code(202)
        .send(
          await recoverDeliveries(depsFor(request, deps), callerOf(request), request.params.id, request.body),
        ),
  );

  app.post(
    '/v1/webhooks/:id/deliveries/:deliveryId/redeliver',
    {
      config: {
        access: 'developer',
        capability: 'operate',
        role: 'full',
        rate: rates.webhookWrite,
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'webhooks.redeliver',
        summary: 'Deliver an event once more',
        params: DeliveryPath,
        body: NoFields,
        response: { 202: WebhookDelivery },
      },
    },
    async (request, reply) =>
      reply.code(202).send(await redeliver(depsFor(request, deps), callerOf(request), request.params)),
  );
};
