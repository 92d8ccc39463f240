import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, sessionOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { getOwnReceipt, listOwnEntries, listOwnGrants } from './list.ts';
import {
  CreatedPrincipalSession,
  NewPrincipalSession,
  OwnEntryPage,
  OwnEntryQuery,
  OwnGrantPage,
  OwnGrantPath,
  OwnGrantQuery,
  OwnReceipt,
  RevokedGrants,
} from './principals.schema.ts';
import { revokeOwnGrant, revokeOwnGrants } from './revoke.ts';
import { createSession, endPrincipalSession, type PrincipalDeps } from './session.ts';

export const rates = rateRules({
  principalSession: {
    perMinute: 10,
    describes: 'making principal sessions, by developer',
    counts: [{ by: 'developer' }],
  },
  principalAudit: {
    perMinute: 30,
    describes: '`GET /v1/principal/audit` and receipts of grants, by principal session',
    counts: [{ by: 'session' }],
  },
});

export const principalRoutes: FastifyPluginAsyncTypebox<PrincipalDeps> = async (app, deps) => {
  addPage(app, {
    name: 'permissions',
    feature: 'principals',
    summary: 'The page on which a person sees and ends grants to agents',
    folder: `${import.meta.dirname}/page`,
  });

  app.post(
    '/v1/principal-sessions',
    {
      config: {
        access: 'developer',
        role: 'full',
        rate: rates.principalSession,
        failures: ['SSO_REQUIRED', 'NOT_FOUND'],
      },
      schema: {
        operationId: 'principals.openSession',
        summary: 'Open a session in which a principal sees and ends grants to agents',
        body: NewPrincipalSession,
        response: { 201: CreatedPrincipalSession },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createSession(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/principal/grants',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'principals.grants',
        summary: "List the principal's grants, newest first",
        querystring: OwnGrantQuery,
        response: { 200: OwnGrantPage },
      },
    },
    (request) => {
      const languages = request.headers['accept-language'];
      return listOwnGrants(deps, sessionOf(request), { ...request.query, languages });
    },
  );

  app.delete(
    '/v1/principal/grants',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'principals.revokeAll',
        summary: "Revoke all of the principal's active grants, all or none",
        response: { 200: RevokedGrants },
      },
    },
    (request) => revokeOwnGrants(deps, sessionOf(request)),
  );

  app.delete(
    '/v1/principal/grants/:id',
    {
      config: { access: 'session', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'principals.revoke',
        summary: "Revoke one of the principal's grants, its tokens and all grants delegated from it",
        params: OwnGrantPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await revokeOwnGrant(deps, sessionOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/principal/grants/:id/receipt',
    {
      config: { access: 'session', rate: rates.principalAudit, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'principals.receipt',
        summary:
          "Get the receipt of one of the principal's approvals: what was asked, what was approved, and when",
        params: OwnGrantPath,
        response: { 200: OwnReceipt },
      },
    },
    (request) => getOwnReceipt(deps, sessionOf(request), request.params.id),
  );

  app.get(
    '/v1/principal/audit',
    {
      config: { access: 'session', rate: rates.principalAudit, failures: [], isHeavy: true },
      schema: {
        operationId: 'principals.audit',
        summary: 'List the audit entries about the principal, newest first',
        querystring: OwnEntryQuery,
        response: { 200: OwnEntryPage },
      },
    },
    async (request, reply) => {
      const text = await listOwnEntries(deps, sessionOf(request), request.query);
      return reply.type('application/json; charset=utf-8').send(text);
    },
  );

  app.delete(
    '/v1/principal/session',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'principals.endSession',
        summary: 'End the session',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await endPrincipalSession(deps, sessionOf(request));
      return reply.code(204).send(null);
    },
  );
};
