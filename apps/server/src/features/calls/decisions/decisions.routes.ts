import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { sentBytesOf } from '../../../platform/http/bodies/bodies.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { approverRates } from '../approvers/index.ts';
import { askForDecision } from './ask.ts';
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
import type { DecisionsDeps } from './decisions.acts.ts';
import {
  CasePath,
  ConsumeDecisionRequest,
  ConsumeDecisionResult,
  Decision,
  DecisionCase,
  DecisionGrantsRequest,
  DecisionGrantsResult,
  DecisionPage,
  DecisionPath,
  DecisionQuery,
  NewDecision,
  NewDecisionCase,
} from './decisions.schema.ts';
import { cancelDecision, changeCase, closeCase } from './end.ts';

import { listDecisions, showDecision } from './show.ts';
import { consume, showGrants } from './use.ts';

const ofAgents = { access: 'developer', role: 'runtime', boundKeys: 'own agents', rate: 'default' } as const;

export const decisionRoutes: FastifyPluginAsyncTypebox<DecisionsDeps> = async (app, deps) => {
  app.post(
    '/v1/decisions',
    {
      config: { ...ofAgents, capability: 'never', failures: ['NOT_FOUND', 'CONFLICT'], keepsBytes: true },
      schema: {
        operationId: 'decisions.request',
        summary: 'Ask people to decide about one exact call',
        description:
          'Asking decides nothing: people approve on the page `url`, each with a passkey of their own. A call that another check refuses asks nobody. The same call asks once while its request is open, and after a refusal not before its time is over. A call with a `callId` gets its own request again, also once its approvals are used.',
        body: NewDecision,
        response: { 200: Decision, 201: Decision },
      },
    },
    async (request, reply) => {
      const text = sentBytesOf(request).toString();
      const asked = await askForDecision(depsFor(request, deps), callerOf(request), request.body, text);
      return reply.code(asked.isNew ? 201 : 200).send(asked.decision);
    },
  );

  app.get(
    '/v1/decisions',
    {
      config: { ...ofAgents, capability: 'read', failures: [] },
      schema: {
        operationId: 'decisions.list',
        summary: 'List requests for decisions, newest first',
        querystring: DecisionQuery,
        response: { 200: DecisionPage },
      },
    },
    (request) => listDecisions(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/decisions/:id',
    {
      config: { ...ofAgents, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'decisions.get',
        summary: 'Read a request, with its approvals',
        params: DecisionPath,
        response: { 200: Decision },
      },
    },
    (request) => showDecision(deps, callerOf(request), request.params.id),
  );

  app.post(
    '/v1/decisions/:id/cancel',
    {
      config: { ...ofAgents, capability: 'operate', failures: ['NOT_FOUND', 'CONFLICT', 'GONE'] },
      schema: {
        operationId: 'decisions.cancel',
        summary: 'Take a request back, with whatever was approved',
        params: DecisionPath,
        body: NoFields,
        response: { 200: Decision },
      },
    },
    (request) => cancelDecision(depsFor(request, deps), callerOf(request), request.params.id),
  );

  app.post(
    '/v1/decisions/:id/grants',
    {
      config: { ...ofAgents, capability: 'never', failures: ['NOT_FOUND', 'FORBIDDEN', 'CONFLICT', 'GONE'] },
      schema: {
        operationId: 'decisions.grants',
        summary: 'Get the decision grants of an approved request, as the agent and grant that asked',
        params: DecisionPath,
        body: DecisionGrantsRequest,
        response: { 200: DecisionGrantsResult },
      },
    },
    async (request) => {
      const { grantToken } = request.body;
      const own = depsFor(request, deps);
      return { decisionGrants: await showGrants(own, callerOf(request), request.params.id, grantToken) };
    },
  );

  app.post(
    '/v1/decisions/consume',
    {
      config: { ...ofAgents, capability: 'never', failures: ['NOT_FOUND', 'FORBIDDEN', 'CONFLICT', 'GONE'] },
      schema: {
        operationId: 'decisions.consume',
        summary: 'Take a step with decision grants: hold, send, spend or release them for one call',
        description:
          'All grants move together or none does. The same call may repeat its step after a lost answer; another call is refused with `details.sub_reason` `consumed`. A held decision that is not sent within 30 seconds is free again.',
        body: ConsumeDecisionRequest,
        response: { 200: ConsumeDecisionResult },
      },
    },
    (request) => consume(depsFor(request, deps), callerOf(request), request.body),
  );

  app.put(
    '/v1/decisions/cases/:caseName',
    {
      config: { ...ofAgents, capability: 'never', boundKeys: 'forbidden', failures: [] },
      schema: {
        operationId: 'decisions.setCaseVersion',
        summary: 'Set the version of a case, which ends the requests about its other versions',
        params: CasePath,
        body: NewDecisionCase,
        response: { 200: DecisionCase },
      },
    },
    (request) => changeCase(deps, callerOf(request), request.params.caseName, request.body),
  );

  app.delete(
    '/v1/decisions/cases/:caseName',
    {
      config: { ...ofAgents, capability: 'operate', boundKeys: 'forbidden', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'decisions.closeCase',
        summary: 'Close a case, which ends its requests and forgets what its calls used',
        description:
          'Calls that name the case afterwards count against caps by case from zero. Where Redis counts caps, the units of the case stay.',
        params: CasePath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await closeCase(deps, callerOf(request), request.params.caseName);
      return reply.code(204).send(null);
    },
  );
};

const own = { access: 'developer', role: 'full', rate: approverRates.memberWrite } as const;

export const channelRoutes: FastifyPluginAsyncTypebox<ChannelDeps> = async (app, deps) => {
  app.post(
    '/v1/decision-channels',
    {
      config: { ...own, capability: 'configure', stepUp: true, failures: ['CONFLICT'] },
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
      config: { ...own, capability: 'read', rate: 'default', failures: [] },
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
      config: { ...own, capability: 'configure', failures: ['NOT_FOUND'] },
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
