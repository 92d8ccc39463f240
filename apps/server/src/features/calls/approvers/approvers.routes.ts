import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, operatorOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { generalRates, rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  AccountPath,
  Approver,
  ApproverAbsence,
  ApproverChange,
  ApproverInvitation,
  ApproverPage,
  ApproverPath,
  ApproverQuery,
  ApproverRecovery,
  ApproverRecoveryRequest,
  NewApprover,
} from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { inviteApprover } from './invite.ts';
import { changeApprover, endAbsence, listApprovers, removeApprover, setAbsence } from './manage.ts';
import { beginRecovery, cancelRecovery } from './recovery.ts';

export const rates = rateRules({
  memberWrite: {
    perMinute: 30,
    describes: 'inviting, changing and removing members and approvers, by developer',
    counts: [{ by: 'developer' }],
  },
  consoleSignIn: {
    perMinute: 20,
    describes: 'signing in to the console or as an approver, and enrolling, by client address',
    counts: [{ by: 'address' }],
  },
});

const own = { access: 'developer', role: 'full', rate: rates.memberWrite } as const;

export const approverRoutes: FastifyPluginAsyncTypebox<ApproverDeps> = async (app, deps) => {
  app.post(
    '/v1/approvers',
    {
      config: { ...own, capability: 'people', stepUp: true, failures: ['CONFLICT', 'PLAN_LIMIT_EXCEEDED'] },
      schema: {
        operationId: 'approvers.invite',
        summary: 'Invite a person to decide about calls',
        description:
          'The link goes by mail where the service can send it, and into the answer otherwise. The first person of an account decides 24 hours after they enrol; each later one after another approver has confirmed them. The link of a principal of a live account goes by mail alone.',
        body: NewApprover,
        response: { 201: ApproverInvitation },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await inviteApprover(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/approvers',
    {
      config: { ...own, capability: 'read', rate: 'default', failures: [] },
      schema: {
        operationId: 'approvers.list',
        summary: 'List approvers, newest first',
        querystring: ApproverQuery,
        response: { 200: ApproverPage },
      },
    },
    (request) => listApprovers(deps, callerOf(request), request.query),
  );

  app.patch(
    '/v1/approvers/:id',
    {
      config: { ...own, capability: 'people', stepUp: true, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'approvers.change',
        summary: 'Change the groups or connectors of an approver, or suspend them',
        params: ApproverPath,
        body: ApproverChange,
        response: { 200: Approver },
      },
    },
    (request) => changeApprover(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/approvers/:id',
    {
      config: { ...own, capability: 'people', failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'approvers.remove',
        summary: 'Remove an approver at once',
        params: ApproverPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeApprover(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.put(
    '/v1/approvers/:id/absence',
    {
      config: { ...own, capability: 'people', stepUp: true, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approvers.setAbsence',
        summary: 'Record the absence of an approver, with or without a deputy',
        params: ApproverPath,
        body: ApproverAbsence,
        response: { 200: Approver },
      },
    },
    (request) => setAbsence(deps, callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/approvers/:id/absence',
    {
      config: { ...own, capability: 'people', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approvers.endAbsence',
        summary: 'End the absence of an approver',
        params: ApproverPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await endAbsence(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};

export const approverRecoveryRoutes: FastifyPluginAsyncTypebox<ApproverDeps> = async (app, deps) => {
  app.post(
    '/v1/admin/developers/:id/approver-recovery',
    {
      config: { access: 'operator', rate: generalRates.admin, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'approvers.recover',
        summary: 'Let an approver who has lost every passkey enrol once more, a day from now',
        description:
          'The link goes by mail where the service can send it to the person, and into the answer otherwise. It opens after 24 hours. The account and its approvers are told at once, and any of the approvers can stop it.',
        params: AccountPath,
        body: ApproverRecoveryRequest,
        response: { 201: ApproverRecovery },
      },
    },
    async (request, reply) => {
      const { params, body } = request;
      const wanted = { tenant: { developerId: params.id }, approverId: body.approverId };
      return reply.code(201).send(await beginRecovery(deps, operatorOf(request), wanted));
    },
  );

  app.delete(
    '/v1/approver/recoveries/:id',
    {
      config: { access: 'approver', fromOwnPages: true, rate: generalRates.console, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approver.cancelRecovery',
        summary: 'Stop a link of the operator that would replace the passkeys of an approver',
        params: ApproverPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await cancelRecovery(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
