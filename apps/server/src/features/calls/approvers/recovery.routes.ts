import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, operatorOf } from '../../../platform/http/callers/credentials.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { rates } from './approvers.rates.ts';
import { AccountPath, ApproverPath, NewRecovery, Recovery } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { beginRecovery, cancelRecovery } from './recovery.ts';

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
        body: NewRecovery,
        response: { 201: Recovery },
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
      config: { access: 'approver', fromOwnPages: true, rate: rates.console, failures: ['NOT_FOUND'] },
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
