import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { sentBytesOf } from '../../../platform/http/bodies/bodies.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  ActiveQuery,
  BundlePath,
  BundleQuery,
  NewPolicyBundle,
  NoFields,
  PolicyBundle,
  PolicyBundlePage,
  PolicyBundleSync,
  PolicyPushReceipt,
  PolicySyncSecret,
  Push,
  PushQuery,
} from './bundles.schema.ts';
import {
  activateBundle,
  deleteBundle,
  getActiveBundle,
  getContent,
  listBundles,
  type PushDeps,
  rotateSecret,
  syncBundle,
  takePush,
} from './sync.ts';

export const rates = rateRules({
  policySync: {
    perMinute: 10,
    describes: 'sending and activating policy bundles, by developer',
    counts: [{ by: 'developer' }],
  },
  policySecret: {
    perMinute: 5,
    describes: 'making the secret of Git notifications, by developer',
    counts: [{ by: 'developer' }],
  },
});

const FULL = { access: 'developer', role: 'full' } as const;
const LARGEST_BODY = 8_388_608; // bytes

const Content = {
  description: 'The bytes of the bundle, with their digest as `ETag`',
  content: { 'application/octet-stream': { schema: Type.Unsafe<Buffer>(Type.String({ format: 'binary' })) } },
};

export const bundleRoutes: FastifyPluginAsyncTypebox<PushDeps> = async (app, deps) => {
  app.post(
    '/v1/policies/sync',
    {
      bodyLimit: LARGEST_BODY,
      config: {
        ...FULL,
        capability: 'configure',
        stepUp: true,
        rate: rates.policySync,
        failures: ['CONFLICT', 'PLAN_LIMIT_EXCEEDED'],
      },
      schema: {
        operationId: 'policyBundles.sync',
        summary: 'Store a policy bundle',
        description:
          'A version that is there already with the same content is answered with 200. With `POLICY_BACKEND=cedar_bundles` a Cedar bundle is read first, and one with a fault is refused.',
        body: NewPolicyBundle,
        response: { 200: PolicyBundleSync, 201: PolicyBundleSync },
      },
    },
    async (request, reply) => {
      const { isNew, bundle } = await syncBundle(depsFor(request, deps), callerOf(request), request.body);
      return reply.code(isNew ? 201 : 200).send(bundle);
    },
  );

  app.get(
    '/v1/policies/bundles',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: [] },
      schema: {
        operationId: 'policyBundles.list',
        summary: 'List policy bundles, newest first',
        querystring: BundleQuery,
        response: { 200: PolicyBundlePage },
      },
    },
    (request) => listBundles(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/policies/bundles/active',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'policyBundles.active',
        summary: 'Get the active policy bundle of a format',
        querystring: ActiveQuery,
        response: { 200: PolicyBundle },
      },
    },
    (request) => getActiveBundle(deps, callerOf(request), request.query.format),
  );

  app.get(
    '/v1/policies/bundles/:id/content',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'policyBundles.content',
        summary: 'Get the content of a policy bundle',
        params: BundlePath,
        response: { 200: Content },
      },
    },
    async (request, reply) => {
      const { sha256, content } = await getContent(deps, callerOf(request), request.params.id);
      return reply.type('application/octet-stream').header('etag', `"${sha256}"`).send(content);
    },
  );

  app.delete(
    '/v1/policies/bundles/:id',
    {
      config: {
        ...FULL,
        capability: 'configure',
        rate: rates.policySync,
        failures: ['NOT_FOUND', 'CONFLICT'],
      },
      schema: {
        operationId: 'policyBundles.delete',
        summary: 'Delete a policy bundle that is not active',
        params: BundlePath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteBundle(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/policies/bundles/:id/activate',
    {
      config: {
        ...FULL,
        capability: 'configure',
        stepUp: true,
        mayLoosen: true,
        rate: rates.policySync,
        failures: ['CONFLICT', 'NOT_FOUND'],
      },
      schema: {
        operationId: 'policyBundles.activate',
        summary: 'Roll back or forward to a policy bundle',
        params: BundlePath,
        body: NoFields,
        response: { 200: PolicyBundle },
      },
    },
    (request) => activateBundle(depsFor(request, deps), callerOf(request), request.params.id),
  );

  app.post(
    '/v1/policies/sync/secret',
    {
      config: { ...FULL, capability: 'configure', stepUp: true, rate: rates.policySecret, failures: [] },
      schema: {
        operationId: 'policyBundles.rotateSecret',
        summary: 'Make the secret of Git notifications',
        description: 'It is shown once, and replaces the former one.',
        body: NoFields,
        response: { 201: PolicySyncSecret },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await rotateSecret(depsFor(request, deps), callerOf(request))),
  );

  app.post(
    '/v1/policies/sync/webhook',
    {
      config: { access: 'none', rate: 'default', failures: ['UNAUTHORIZED'], keepsBytes: true },
      schema: {
        operationId: 'policyBundles.push',
        summary: 'Receive a Git notification',
        description:
          'The header `X-Hub-Signature-256` signs the body with the secret of the developer. The service announces the push, and fetches nothing.',
        querystring: PushQuery,
        body: Push,
        response: { 202: PolicyPushReceipt },
      },
    },
    async (request, reply) => {
      const taken = await takePush(deps, {
        developerId: request.query.dev ?? '',
        signature: String(request.headers['x-hub-signature-256'] ?? ''),
        bytes: sentBytesOf(request),
        body: request.body,
        requestId: request.id,
      });
      return reply.code(202).send(taken);
    },
  );
};
