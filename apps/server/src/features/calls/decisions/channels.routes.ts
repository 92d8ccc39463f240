import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import {
  type ChannelDeps,
  ChannelPath,
  createChannel,
  DecisionChannel,
  DecisionChannelList,
  listChannels,
  NewDecisionChannel,
  removeChannel,
} from './channels.ts';
import { ofApprovers } from './decisions.rates.ts';

const own = { access: 'developer', role: 'full', rate: ofApprovers.memberWrite } as const;

export const channelRoutes: FastifyPluginAsyncTypebox<ChannelDeps> = async (app, deps) => {
  app.post(
    '/v1/decision-channels',
    {
      config: { ...own, failures: ['CONFLICT'] },
      schema: {
        operationId: 'decisions.addChannel',
        summary: 'Add a channel of Slack or Microsoft Teams that hears of requests',
        body: NewDecisionChannel,
        response: { 201: DecisionChannel },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createChannel(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/decision-channels',
    {
      config: { ...own, rate: 'default', failures: [] },
      schema: {
        operationId: 'decisions.listChannels',
        summary: 'List the channels that hear of requests, oldest first',
        response: { 200: DecisionChannelList },
      },
    },
    (request) => listChannels(deps, callerOf(request)),
  );

  app.delete(
    '/v1/decision-channels/:id',
    {
      config: { ...own, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'decisions.removeChannel',
        summary: 'Remove a channel, with the messages on their way to it',
        params: ChannelPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeChannel(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
