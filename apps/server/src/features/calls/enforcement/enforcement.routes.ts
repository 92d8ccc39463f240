import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { sentBytesOf } from '../../../platform/http/bodies/bodies.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor, repeatIdOf } from '../../../platform/http/idempotency/idempotency.ts';
import { pauseOf } from '../../../platform/http/limits/heavy-reads.ts';
import { type EnforcementDeps, enforceCall } from './enforce.ts';
import {
  CallPath,
  ConnectorPath,
  EnforceRequest,
  EnforceResult,
  ListToolsRequest,
  ListToolsResult,
  ManifestReplay,
  ManifestReplayRequest,
  ToolUsage,
  UsageQuery,
} from './enforcement.schema.ts';
import { listTools } from './enforcer.ts';
import { replayManifest } from './replay.ts';
import { noteSent, refundCall, toolUsage } from './usage.ts';

const ofAgents = {
  access: 'developer',
  role: 'runtime',
  boundKeys: 'own agents',
  rate: 'default',
} as const;

export const enforcementRoutes: FastifyPluginAsyncTypebox<EnforcementDeps> = async (app, deps) => {
  app.post(
    '/v1/enforce',
    {
      config: {
        ...ofAgents,
        capability: 'never',
        sandboxCapability: 'operate',
        failures: [],
        keepsBytes: true,
      },
      schema: {
        operationId: 'enforcement.enforce',
        summary: 'Ask whether a call of a tool may happen now',
        description:
          'A denial is an answer, with status 200: read `allowed`. Each answer is in the audit log.',
        body: EnforceRequest,
        response: { 200: EnforceResult },
      },
    },
    (request) =>
      enforceCall(depsFor(request, deps), callerOf(request), {
        input: namedBy(repeatIdOf(request), request.body),
        text: sentBytesOf(request).toString(),
      }),
  );

  app.post(
    '/v1/enforce/tools',
    {
      config: { ...ofAgents, capability: 'never', sandboxCapability: 'operate', failures: [] },
      schema: {
        operationId: 'enforcement.listTools',
        summary: 'Select the tools that some call with a token could use',
        body: ListToolsRequest,
        response: { 200: ListToolsResult },
      },
    },
    (request) => listTools(depsFor(request, deps), callerOf(request), request.body),
  );

  app.post(
    '/v1/enforce/:callId/sent',
    {
      config: { ...ofAgents, capability: 'never', failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'enforcement.sent',
        summary: 'Say that an allowed call was sent, so that its units stay charged',
        params: CallPath,
        body: NoFields,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await noteSent(depsFor(request, deps), callerOf(request), request.params.callId);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/enforce/:callId/refund',
    {
      config: { ...ofAgents, capability: 'never', failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'enforcement.refund',
        summary: 'Say that an allowed call was never sent, so that its units are free again',
        params: CallPath,
        body: NoFields,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await refundCall(depsFor(request, deps), callerOf(request), request.params.callId);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/manifests/:connector/replay',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['INVALID_MANIFEST'],
        isHeavy: true,
      },
      schema: {
        operationId: 'manifests.replay',
        summary: 'Tell which calls a draft of a manifest would have denied or allowed',
        description:
          'Judges the recorded calls of at most 30 days once by the manifest as it is and once by the draft: with the whole scopes of their grants, and with caps that begin to count with the span. It has no effect and leaves no entry.',
        params: ConnectorPath,
        body: ManifestReplayRequest,
        response: { 200: ManifestReplay },
      },
    },
    (request) =>
      replayManifest(
        { ...depsFor(request, deps), pause: () => pauseOf(request) },
        callerOf(request),
        request.params.connector,
        request.body,
      ),
  );

  app.get(
    '/v1/enforce/usage',
    {
      config: { ...ofAgents, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'enforcement.usage',
        summary: 'Read what a grant has used of the caps of a tool',
        querystring: UsageQuery,
        response: { 200: ToolUsage },
      },
    },
    (request) => toolUsage(deps, callerOf(request), request.query),
  );
};

/** A call that names itself keeps its id. Any other is found again by the `Idempotency-Key`, and charged once. */
const namedBy = (repeatId: string | undefined, call: EnforceRequest): EnforceRequest =>
  repeatId === undefined ? call : { callId: repeatId, ...call };
