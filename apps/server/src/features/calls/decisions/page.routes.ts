import type { Readable } from 'node:stream';
import { AssertionOptions } from '@behest/protocol/passkey-shapes';
import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { sendLive } from '../../../platform/http/answers/send.ts';
import { callerOf, cookiesIn } from '../../../platform/http/callers/credentials.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { approveDecision, beginApproval, denyDecision } from './approve.ts';
import type { DecisionsDeps } from './decisions.acts.ts';
import {
  ApproveDecisionRequest,
  ApproveDecisionResult,
  ApproverDecisionPage,
  DecisionForApprover,
  DecisionPath,
  DenyDecisionRequest,
  DenyDecisionResult,
  FollowQuery,
  RoutedQuery,
} from './decisions.schema.ts';

import { listRouted, showRouted } from './show.ts';
import { type FollowDeps, followRequests } from './stream.ts';

const signedIn = { access: 'approver', fromOwnPages: true, rate: generalRates.console } as const;

const EventStream = {
  description: 'Each event as it happens: its id, its type, and its envelope on one line of data',
  content: { 'text/event-stream': { schema: Type.Unsafe<Readable>(Type.String()) } },
};

export const decisionPageRoutes: FastifyPluginAsyncTypebox<DecisionsDeps & FollowDeps> = async (
  app,
  deps,
) => {
  addPage(app, {
    name: 'approve',
    feature: 'approver',
    summary: 'The page on which approvers decide',
    folder: `${import.meta.dirname}/page`,
    onOwnHost: true,
    isTranslated: true,
    workerPolicy: 'approve-worker',
  });

  app.get(
    '/v1/approver/decisions',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'approver.decisions',
        summary: 'List the requests that go to the approver: the open ones, or those that ended',
        querystring: RoutedQuery,
        response: { 200: ApproverDecisionPage },
      },
    },
    (request) => listRouted(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/approver/events',
    {
      config: { ...signedIn, failures: ['TOO_MANY_CONNECTIONS'], isLive: true },
      schema: {
        operationId: 'approver.events',
        summary: 'Follow the requests that go to the approver, as server-sent events',
        description:
          'The stream holds the events `decision.*` of these requests, and none while the approver is absent. It does not count as use of the session, and ends with it.',
        querystring: FollowQuery,
        response: { 200: EventStream },
      },
    },
    async (request, reply) => {
      const cookies = cookiesIn(request.headers);
      const lastEventId = request.headers['last-event-id']?.toString() || request.query.lastEventId;
      return sendLive(reply, await followRequests(deps, callerOf(request), { cookies, lastEventId }));
    },
  );

  app.get(
    '/v1/approver/decisions/:id',
    {
      config: { ...signedIn, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approver.decision',
        summary: 'Show the approver the exact call',
        params: DecisionPath,
        response: { 200: DecisionForApprover },
      },
    },
    (request) => {
      const languages = request.headers['accept-language'];
      return showRouted(deps, callerOf(request), { id: request.params.id, languages });
    },
  );

  app.post(
    '/v1/approver/decisions/:id/options',
    {
      config: {
        ...signedIn,
        failures: ['NOT_FOUND', 'CONFLICT', 'GONE', 'FIDO_NOT_ENROLLED'],
      },
      schema: {
        operationId: 'approver.approveOptions',
        summary: 'Ask for the passkey of the approver over the call',
        params: DecisionPath,
        body: NoFields,
        response: { 200: AssertionOptions },
      },
    },
    (request) => beginApproval(deps, callerOf(request), request.params.id),
  );

  app.post(
    '/v1/approver/decisions/:id/approve',
    {
      config: {
        ...signedIn,
        failures: [
          'NOT_FOUND',
          'CONFLICT',
          'GONE',
          'CHALLENGE_INVALID',
          'WEBAUTHN_VERIFICATION_FAILED',
          'WEBAUTHN_CLONE_SUSPECTED',
        ],
      },
      schema: {
        operationId: 'approver.approve',
        summary: 'Approve the call with the signature of a passkey over its hash',
        params: DecisionPath,
        body: ApproveDecisionRequest,
        response: { 200: ApproveDecisionResult },
      },
    },
    (request) => approveDecision(deps, callerOf(request), request.params.id, request.body),
  );

  app.post(
    '/v1/approver/decisions/:id/deny',
    {
      config: { ...signedIn, failures: ['NOT_FOUND', 'CONFLICT', 'GONE'] },
      schema: {
        operationId: 'approver.deny',
        summary: 'Refuse the call, for good',
        params: DecisionPath,
        body: DenyDecisionRequest,
        response: { 200: DenyDecisionResult },
      },
    },
    (request) => denyDecision(deps, callerOf(request), request.params.id, request.body.reason),
  );
};
