import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { pauseOf } from '../../../platform/http/limits/heavy-reads.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import type { DecideDeps } from './decide.ts';
import {
  changePolicy,
  createPolicy,
  deletePolicy,
  evaluatePolicies,
  getPolicy,
  listPolicies,
  listPolicyVersions,
} from './manage.ts';
import {
  NewPolicy,
  PolicyChange,
  PolicyEvaluation,
  PolicyEvaluationRequest,
  PolicyPage,
  PolicyPath,
  PolicyQuery,
  PolicyRecord,
  PolicyReplay,
  PolicyReplayRequest,
  PolicyVersionPage,
  PolicyVersionQuery,
  PolicyWithWarnings,
} from './policies.schema.ts';
import { replayPolicies } from './replay.ts';

export const rates = rateRules({
  policyWrite: {
    perMinute: 30,
    describes: 'writing and replaying policies, by developer',
    counts: [{ by: 'developer' }],
  },
});

const FULL = { access: 'developer', role: 'full' } as const;

export const policyRoutes: FastifyPluginAsyncTypebox<DecideDeps> = async (app, deps) => {
  app.post(
    '/v1/policies',
    {
      config: {
        ...FULL,
        capability: 'configure',
        stepUp: (body) => Object(body).effect === 'allow',
        mayLoosen: true,
        rate: rates.policyWrite,
        failures: ['PLAN_LIMIT_EXCEEDED', 'CONFLICT'],
      },
      schema: {
        operationId: 'policies.create',
        summary: 'Create a policy',
        description:
          'It holds for every request that starts after the answer. `warnings` names what the author may not have meant: policies that never decide, and those that contradict each other, with an example.',
        body: NewPolicy,
        response: { 201: PolicyWithWarnings },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createPolicy(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/policies',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: [] },
      schema: {
        operationId: 'policies.list',
        summary: 'List policies, in the order of evaluation',
        querystring: PolicyQuery,
        response: { 200: PolicyPage },
      },
    },
    (request) => listPolicies(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/policies/:id',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'policies.get',
        summary: 'Get a policy',
        params: PolicyPath,
        response: { 200: PolicyRecord },
      },
    },
    (request) => getPolicy(deps, callerOf(request), request.params.id),
  );

  app.get(
    '/v1/policies/:id/versions',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'policies.versions',
        summary: 'List what a policy was after each change, the newest first',
        description:
          'The last 50 are kept, of at most 512 KiB together. To go back, change the policy to what it was. They are deleted with the policy, which the entry `policy.deleted` of the audit log holds as it was last.',
        params: PolicyPath,
        querystring: PolicyVersionQuery,
        response: { 200: PolicyVersionPage },
      },
    },
    (request) => listPolicyVersions(deps, callerOf(request), request.params.id, request.query),
  );

  app.patch(
    '/v1/policies/:id',
    {
      config: {
        ...FULL,
        capability: 'configure',
        stepUp: true,
        mayLoosen: true,
        rate: rates.policyWrite,
        failures: ['NOT_FOUND', 'CONFLICT'],
      },
      schema: {
        operationId: 'policies.update',
        summary: 'Change a policy',
        description: 'An absent field stays, and null clears a condition. The policy is checked as a whole.',
        params: PolicyPath,
        body: PolicyChange,
        response: { 200: PolicyWithWarnings },
      },
    },
    (request) => changePolicy(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/policies/:id',
    {
      config: {
        ...FULL,
        capability: 'configure',
        mayLoosen: true,
        rate: rates.policyWrite,
        failures: ['STEP_UP_REQUIRED', 'NOT_FOUND', 'CONFLICT'],
      },
      schema: {
        operationId: 'policies.delete',
        summary: 'Delete a policy',
        params: PolicyPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deletePolicy(depsFor(request, deps), callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/policies/evaluate',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: ['INVALID_SCOPE'] },
      schema: {
        operationId: 'policies.evaluate',
        summary: 'Tell how policies would decide about a request',
        description: 'A dry run: it has no effect and leaves no entry.',
        body: PolicyEvaluationRequest,
        response: { 200: PolicyEvaluation },
      },
    },
    (request) => evaluatePolicies(depsFor(request, deps), callerOf(request), request.body),
  );

  app.post(
    '/v1/policies/replay',
    {
      config: {
        ...FULL,
        capability: 'read',
        rate: rates.policyWrite,
        failures: ['NOT_FOUND'],
        isHeavy: true,
      },
      schema: {
        operationId: 'policies.replay',
        summary: 'Tell what a draft of a policy would have changed',
        description:
          'Decides about the recorded authorization requests of at most 30 days, at their own times, once by the policies as they are and once with the draft. It has no effect and leaves no entry.',
        body: PolicyReplayRequest,
        response: { 200: PolicyReplay },
      },
    },
    (request) =>
      replayPolicies(
        { ...depsFor(request, deps), pause: () => pauseOf(request) },
        callerOf(request),
        request.body,
      ),
  );
};
