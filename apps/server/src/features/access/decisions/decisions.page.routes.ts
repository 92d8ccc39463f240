import { AssertionOptions } from '@behest/protocol/passkey-shapes';
import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { approveDecision, beginApproval, denyDecision } from './decisions.approve.service.ts';
import type { DecisionsDeps } from './decisions.deps.service.ts';
import { listRouted, showRouted } from './decisions.page.service.ts';
import { ofApprovers } from './decisions.rates.ts';
import {
  Approve,
  Approved,
  DecisionPath,
  Denied,
  Deny,
  RoutedDecisions,
  ShownDecision,
} from './decisions.schema.ts';

const signedIn = { access: 'approver', fromOwnPages: true, rate: ofApprovers.console } as const;

export const decisionPageRoutes: FastifyPluginAsyncTypebox<DecisionsDeps> = async (app, deps) => {
  addPage(app, {
    name: 'approve',
    feature: 'approver',
    summary: 'The page on which approvers decide',
    folder: `${import.meta.dirname}/page`,
  });

  app.get(
    '/v1/approver/decisions',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'approver.decisions',
        summary: 'List the open requests that go to the approver, those that end next first',
        response: { 200: RoutedDecisions },
      },
    },
    (request) => listRouted(deps, callerOf(request)),
  );

  app.get(
    '/v1/approver/decisions/:id',
    {
      config: { ...signedIn, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'approver.decision',
        summary: 'Show the approver the exact call',
        params: DecisionPath,
        response: { 200: ShownDecision },
      },
    },
    (request) => showRouted(deps, callerOf(request), request.params.id),
  );

  app.post(
    '/v1/approver/decisions/:id/options',
    {
      config: {
        ...signedIn,
        failures: ['NOT_FOUND', 'CONFLICT', 'GONE', 'FIDO_NOT_ENROLLED', 'NOT_CONFIGURED'],
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
          'NOT_CONFIGURED',
        ],
      },
      schema: {
        operationId: 'approver.approve',
        summary: 'Approve the call with the signature of a passkey over its hash',
        params: DecisionPath,
        body: Approve,
        response: { 200: Approved },
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
        body: Deny,
        response: { 200: Denied },
      },
    },
    (request) => denyDecision(deps, callerOf(request), request.params.id, request.body.reason),
  );
};
