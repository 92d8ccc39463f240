import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { asksForPage, prefersPage, sendPage } from '../../../platform/http/answers/plain-page.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rates } from './anomalies.routes.ts';
import {
  AnomalyChannel,
  AnomalyChannelChange,
  AnomalyChannelList,
  AnomalyChannelTest,
  AnomalyRule,
  AnomalyRuleChange,
  AnomalyRuleList,
  ChannelPath,
  ConfirmationPath,
  NewAnomalyChannel,
  NewAnomalyRule,
  RecipientConfirmation,
  RulePath,
} from './anomalies.schema.ts';
import {
  type ChannelDeps,
  changeChannel,
  createChannel,
  listChannels,
  removeChannel,
  testChannel,
} from './channels.ts';
import { changeRule, createRule, listRules, removeRule } from './custom-rules.ts';
import { confirmRecipient, type RecipientDeps, showRecipient } from './recipients.ts';

const owner = { access: 'developer', role: 'full', rate: 'default', failures: [] } as const;
const ofOne = { ...owner, failures: ['NOT_FOUND'] } as const;
const creates = { ...owner, rate: rates.anomalyWrite, failures: ['CONFLICT'] } as const;

export const settingRoutes: FastifyPluginAsyncTypebox<ChannelDeps & RecipientDeps> = async (app, deps) => {
  app.get(
    '/v1/anomaly/rules',
    {
      config: { ...owner, capability: 'read' },
      schema: {
        operationId: 'anomalies.rules',
        summary: 'List the rules of detection',
        description: 'Built-in rules come first, each as the developer has set it.',
        response: { 200: AnomalyRuleList },
      },
    },
    (request) => listRules(deps, callerOf(request)),
  );

  app.post(
    '/v1/anomaly/rules',
    {
      config: { ...creates, capability: 'configure' },
      schema: {
        operationId: 'anomalies.createRule',
        summary: 'Add a rule',
        description:
          'The rule fires for an agent with more than `threshold` matching entries in the window. An entry matches when it is among each of the given lists.',
        body: NewAnomalyRule,
        response: { 201: AnomalyRule },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createRule(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.patch(
    '/v1/anomaly/rules/:ruleId',
    {
      config: { ...ofOne, capability: 'configure' },
      schema: {
        operationId: 'anomalies.changeRule',
        summary: 'Change a rule, or what a built-in rule does for this account',
        params: RulePath,
        body: AnomalyRuleChange,
        response: { 200: AnomalyRule },
      },
    },
    (request) => changeRule(depsFor(request, deps), callerOf(request), request.params.ruleId, request.body),
  );

  app.delete(
    '/v1/anomaly/rules/:ruleId',
    {
      config: { ...ofOne, capability: 'configure', failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'anomalies.removeRule',
        summary: 'Delete a rule of the account',
        params: RulePath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeRule(deps, callerOf(request), request.params.ruleId);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/anomaly/channels',
    {
      config: { ...owner, capability: 'read' },
      schema: {
        operationId: 'anomalies.channels',
        summary: 'List channels, oldest first',
        response: { 200: AnomalyChannelList },
      },
    },
    (request) => listChannels(deps, callerOf(request)),
  );

  app.post(
    '/v1/anomaly/channels',
    {
      config: { ...creates, capability: 'configure', stepUp: true, failures: ['CONFLICT', 'NOT_CONFIGURED'] },
      schema: {
        operationId: 'anomalies.createChannel',
        summary: 'Add a channel for messages about new alerts',
        description:
          'A `webhook` needs `url` and `secret`, `slack` needs `webhookUrl`, and `email` needs `to`, whose holders are mailed a link to confirm first. Answers mask secrets and cut URLs.',
        body: NewAnomalyChannel,
        response: { 201: AnomalyChannel },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createChannel(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.patch(
    '/v1/anomaly/channels/:id',
    {
      config: { ...ofOne, capability: 'configure', stepUp: true },
      schema: {
        operationId: 'anomalies.changeChannel',
        summary: 'Change a channel',
        params: ChannelPath,
        body: AnomalyChannelChange,
        response: { 200: AnomalyChannel },
      },
    },
    (request) => changeChannel(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/anomaly/channels/:id',
    {
      config: { ...ofOne, capability: 'configure' },
      schema: {
        operationId: 'anomalies.removeChannel',
        summary: 'Delete a channel',
        params: ChannelPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeChannel(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/anomaly/channels/:id/test',
    {
      config: { ...ofOne, capability: 'operate', rate: rates.anomalyWrite },
      schema: {
        operationId: 'anomalies.testChannel',
        summary: 'Send a test message to a channel',
        params: ChannelPath,
        body: NoFields,
        response: { 202: AnomalyChannelTest },
      },
    },
    async (request, reply) =>
      reply.code(202).send(await testChannel(depsFor(request, deps), callerOf(request), request.params.id)),
  );

  app.get(
    '/v1/anomaly/recipients/:token',
    {
      config: ofLink,
      schema: {
        operationId: 'anomalies.showRecipient',
        summary: 'Show a mailed link, as a page with one button unless JSON is asked for',
        params: ConfirmationPath,
        response: { 200: RecipientConfirmation },
      },
    },
    async (request, reply) => {
      const shown = await showRecipient(deps, request.params.token);
      return prefersPage(request) ? sendPage(reply, pageOf(shown)) : reply.send(shown);
    },
  );

  app.post(
    '/v1/anomaly/recipients/:token',
    {
      config: ofLink,
      schema: {
        operationId: 'anomalies.confirmRecipient',
        summary: 'Confirm that messages of a channel may come to the address that a mailed link was sent to',
        params: ConfirmationPath,
        body: NoFields,
        response: { 200: RecipientConfirmation },
      },
    },
    async (request, reply) => {
      const confirmed = await confirmRecipient(deps, request.params.token);
      return asksForPage(request) ? sendPage(reply, pageOf(confirmed)) : reply.send(confirmed);
    },
  );
};

const ofLink = {
  access: 'none',
  rate: rates.anomalyConfirm,
  failures: ['NOT_FOUND'],
  errors: 'page',
} as const;

/** The page of a mailed link. @public The check of the messages reads it. */
export const texts = {
  confirmed: { title: 'The mails may come', lead: 'You can close this window.' },
  asking: {
    title: 'Mails about agents',
    lead: 'The account {account} asks to send mails to {email} when one of its AI agents behaves unusually.',
    button: 'Confirm',
  },
};

const pageOf = ({ account, email, status }: RecipientConfirmation) =>
  status === 'confirmed' ? texts.confirmed : { ...texts.asking, values: { account, email } };
