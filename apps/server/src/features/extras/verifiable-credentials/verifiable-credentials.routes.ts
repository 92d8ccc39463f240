import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { presentationVerifier } from './present.ts';
import type { CredentialDeps } from './sign.ts';
import { rates } from './verifiable-credentials.rates.ts';
import {
  CredentialPath,
  CredentialQuery,
  LARGEST_TO_VERIFY,
  NewVerifiableCredential,
  Presentation,
  Presented,
  Revocation,
  Revoked,
  ToVerify,
  VerifiableCredential,
  VerifiableCredentialPage,
  VerifiedCredential,
} from './verifiable-credentials.schema.ts';
import {
  getCredential,
  issueCredential,
  listCredentials,
  revokeCredential,
} from './verifiable-credentials.ts';
import { credentialVerifier } from './verify.ts';

const ofAgents = { access: 'developer', role: 'runtime', boundKeys: 'own agents', rate: 'default' } as const;
const open = { access: 'none', rate: rates.credentialVerify, failures: [] } as const;

export const credentialRoutes: FastifyPluginAsyncTypebox<
  CredentialDeps & Parameters<typeof presentationVerifier>[0]
> = async (app, deps) => {
  const verifyCredential = credentialVerifier(deps);
  const verifyPresentation = presentationVerifier(deps);

  app.post(
    '/v1/credentials',
    {
      config: { ...ofAgents, failures: ['NOT_FOUND', 'GRANT_INACTIVE', 'AGENT_INACTIVE'] },
      schema: {
        operationId: 'verifiableCredentials.issue',
        summary: 'Issue a credential about a grant',
        body: NewVerifiableCredential,
        response: { 201: VerifiableCredential },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await issueCredential(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/credentials',
    {
      config: { ...ofAgents, failures: [] },
      schema: {
        operationId: 'verifiableCredentials.list',
        summary: 'List credentials, newest first',
        querystring: CredentialQuery,
        response: { 200: VerifiableCredentialPage },
      },
    },
    (request) => listCredentials(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/credentials/:id',
    {
      config: { ...ofAgents, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'verifiableCredentials.get',
        summary: 'Get a credential',
        params: CredentialPath,
        response: { 200: VerifiableCredential },
      },
    },
    (request) => getCredential(deps, callerOf(request), request.params.id),
  );

  app.post(
    '/v1/credentials/:id/revoke',
    {
      config: { ...ofAgents, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'verifiableCredentials.revoke',
        summary: 'Revoke a credential, whose grant lives on',
        params: CredentialPath,
        body: Revocation,
        response: { 200: Revoked },
      },
    },
    (request) =>
      revokeCredential(depsFor(request, deps), callerOf(request), request.params.id, request.body.reason),
  );

  app.post(
    '/v1/credentials/verify',
    {
      bodyLimit: LARGEST_TO_VERIFY,
      config: open,
      schema: {
        operationId: 'verifiableCredentials.verify',
        summary: 'Verify a credential',
        body: ToVerify,
        response: { 200: VerifiedCredential },
      },
    },
    (request) => verifyCredential(request.body.credential),
  );

  app.post(
    '/v1/credentials/present',
    {
      bodyLimit: LARGEST_TO_VERIFY,
      config: open,
      schema: {
        operationId: 'verifiableCredentials.present',
        summary: 'Verify what a holder shows of an SD-JWT',
        body: Presentation,
        response: { 200: Presented },
      },
    },
    (request) => verifyPresentation(request.body),
  );
};
