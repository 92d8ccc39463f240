import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { approveChange } from './approve.ts';
import { ChangeApproval, ChangePage, ChangePath, ChangeQuery, LooseningChange } from './changes.schema.ts';
import { type ChangeDeps, getChange, listChanges, withdrawChange } from './propose.ts';

export const rates = rateRules({
  changeWrite: {
    perMinute: 30,
    describes: 'agreeing to changes and withdrawing them, by developer',
    counts: [{ by: 'developer' }],
  },
});

const FULL = { access: 'developer', role: 'full' } as const;

export const changeRoutes: FastifyPluginAsyncTypebox<ChangeDeps> = async (app, deps) => {
  app.get(
    '/v1/changes',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: [] },
      schema: {
        operationId: 'changes.list',
        summary: 'List changes that waited for a second member, newest first',
        description: 'Decided ones stay for 30 days.',
        querystring: ChangeQuery,
        response: { 200: ChangePage },
      },
    },
    (request) => listChanges(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/changes/:id',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'changes.get',
        summary: 'Get a change that waits for a second member, or did',
        params: ChangePath,
        response: { 200: LooseningChange },
      },
    },
    (request) => getChange(deps, callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/changes/:id',
    {
      config: {
        ...FULL,
        capability: 'configure',
        rate: rates.changeWrite,
        failures: ['NOT_FOUND', 'CONFLICT'],
      },
      schema: {
        operationId: 'changes.withdraw',
        summary: 'Take back a change that waits for a second member',
        params: ChangePath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await withdrawChange(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/changes/:id/approve',
    {
      config: {
        ...{ access: 'console', capability: 'read', stepUp: true, rate: rates.changeWrite },
        failures: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'],
      },
      schema: {
        operationId: 'changes.approve',
        summary: 'Agree to a change as a second member',
        description:
          'No API key agrees. The member is another one than who proposed it, with the capability of the operation and a fresh use of their passkey. When enough have agreed, the change is made in the same transaction, or not at all if what it changes is another one meanwhile.',
        params: ChangePath,
        body: ChangeApproval,
        response: { 200: LooseningChange },
      },
    },
    (request) => {
      const agreement = { id: request.params.id, hash: request.body.hash };
      return approveChange(deps, callerOf(request), agreement, (name) => {
        const found = app.keptOperations.get(name);
        return found && { ...found, run: (kept, as) => found.run(request, kept, as) };
      });
    },
  );
};
