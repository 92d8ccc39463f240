import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { credentialRates } from '../verifiable-credentials/index.ts';
import { issuePassport, type PassportDeps } from './issue.ts';
import {
  IssuedPassport,
  LARGEST_TO_VERIFY,
  NewPassport,
  Passport,
  PassportList,
  PassportPath,
  PassportQuery,
  PassportRevocation,
  PassportVerification,
  VerifyPassportRequest,
} from './passports.schema.ts';
import { getPassport, listPassports, passportVerifier, revokePassport } from './read.ts';

/** Shared with the other statements that anybody verifies. */
const verifyRate = credentialRates.credentialVerify;

const ofAgents = { access: 'developer', role: 'runtime', boundKeys: 'own agents', rate: 'default' } as const;

export const passportRoutes: FastifyPluginAsyncTypebox<PassportDeps> = async (app, deps) => {
  const verify = passportVerifier(deps);

  app.post(
    '/v1/passport/issue',
    {
      config: {
        ...ofAgents,
        capability: 'never',
        failures: [
          'INVALID_AGENT',
          'INVALID_GRANT',
          'SCOPE_INSUFFICIENT',
          'AMOUNT_EXCEEDS_BUDGET',
          'PARENT_EXCEEDED',
          'INVALID_EXPIRY',
        ],
      },
      schema: {
        operationId: 'passports.issue',
        summary: 'Issue a passport about a grant',
        body: NewPassport,
        response: { 201: IssuedPassport },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await issuePassport(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/passport/:id',
    {
      config: { ...ofAgents, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'passports.get',
        summary: 'Get a passport',
        params: PassportPath,
        response: { 200: Passport },
      },
    },
    (request) => getPassport(deps, callerOf(request), request.params.id),
  );

  app.get(
    '/v1/passports',
    {
      config: { ...ofAgents, capability: 'read', failures: [] },
      schema: {
        operationId: 'passports.list',
        summary: 'List passports, newest first',
        description: 'A hundred at most. The header `Link` with `rel="next"` names the rest.',
        querystring: PassportQuery,
        response: { 200: PassportList },
      },
    },
    async (request, reply) => {
      const { page, nextCursor } = await listPassports(deps, callerOf(request), request.query);
      if (nextCursor) {
        const query = new URLSearchParams({ ...request.query, cursor: nextCursor });
        reply.header('link', `<${deps.publicBaseUrl}/v1/passports?${query}>; rel="next"`);
      }
      return page;
    },
  );

  app.post(
    '/v1/passport/:id/revoke',
    {
      config: { ...ofAgents, capability: 'operate', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'passports.revoke',
        summary: 'Revoke a passport, and those below it',
        params: PassportPath,
        body: NoFields,
        response: { 200: PassportRevocation },
      },
    },
    (request) => revokePassport(depsFor(request, deps), callerOf(request), request.params.id),
  );

  app.post(
    '/v1/passports/verify',
    {
      bodyLimit: LARGEST_TO_VERIFY,
      config: { access: 'none', rate: verifyRate, failures: [] },
      schema: {
        operationId: 'passports.verify',
        summary: 'Verify a passport',
        body: VerifyPassportRequest,
        response: { 200: PassportVerification },
      },
    },
    (request) => verify(request.body.passport),
  );
};
