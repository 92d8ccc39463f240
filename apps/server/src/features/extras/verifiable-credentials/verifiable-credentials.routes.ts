import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { AppError } from '../../../platform/errors.ts';
import { sendFinished } from '../../../platform/http/answers/send.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { getCredential, issueCredential, listCredentials, revokeCredential } from './issue.ts';
import { presentationVerifier } from './present.ts';
import type { CredentialDeps } from './sign.ts';
import { MAX_AGE_SECONDS, statusLists, vocabularyDocument } from './status.ts';
import {
  CredentialContext,
  CredentialPath,
  CredentialQuery,
  CredentialRevocation,
  CredentialVerification,
  LARGEST_TO_VERIFY,
  ListPath,
  ListQuery,
  NewVerifiableCredential,
  PresentationVerification,
  RevokeCredentialRequest,
  StatusListCredential,
  TokenListQuery,
  VerifiableCredential,
  VerifiableCredentialPage,
  VerifyCredentialRequest,
  VerifyPresentationRequest,
} from './verifiable-credentials.schema.ts';
import { credentialVerifier } from './verify.ts';

export const rates = rateRules({
  credentialVerify: {
    perMinute: 30,
    describes: 'verifying a credential or a presentation, by client address',
    counts: [{ by: 'address' }],
  },
  statusList: {
    perMinute: 60,
    describes: 'reading a status list, by client address',
    counts: [{ by: 'address' }],
  },
});

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
      config: {
        ...ofAgents,
        capability: 'never',
        failures: ['NOT_FOUND', 'GRANT_INACTIVE', 'AGENT_INACTIVE'],
      },
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
      config: { ...ofAgents, capability: 'read', failures: [] },
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
      config: { ...ofAgents, capability: 'read', failures: ['NOT_FOUND'] },
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
      config: { ...ofAgents, capability: 'operate', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'verifiableCredentials.revoke',
        summary: 'Revoke a credential, whose grant lives on',
        params: CredentialPath,
        body: RevokeCredentialRequest,
        response: { 200: CredentialRevocation },
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
        body: VerifyCredentialRequest,
        response: { 200: CredentialVerification },
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
        body: VerifyPresentationRequest,
        response: { 200: PresentationVerification },
      },
    },
    (request) => verifyPresentation(request.body),
  );
};

/** The routes send finished documents; the shapes are for the API description. */
const ListText = Type.Unsafe<string>(StatusListCredential);
const TokenText = Type.Unsafe<string>(Type.String());
const VocabularyText = Type.Unsafe<string>(CredentialContext);

const isOpen = { access: 'none', rate: rates.statusList, isPublic: true } as const;
const kept = { 'cache-control': `public, max-age=${MAX_AGE_SECONDS}` };

/** The documents that wallets and verifiers read. */
export const statusRoutes: FastifyPluginAsyncTypebox<CredentialDeps> = async (app, deps) => {
  const documentOf = statusLists(deps);
  const terms = vocabularyDocument(deps);

  app.get(
    '/v1/credentials/status/:listId',
    {
      config: { ...isOpen, failures: ['NOT_FOUND', 'NOT_SUPPORTED'] },
      schema: {
        operationId: 'verifiableCredentials.statusList',
        summary: 'Read a Bitstring Status List',
        params: ListPath,
        querystring: ListQuery,
        response: { 200: ListText, 304: Type.Null() },
      },
    },
    async ({ params, query, headers }, reply) => {
      const isJwt = headers.accept?.includes('application/vc+jwt') ?? false;
      if (isJwt && query.profile !== undefined) {
        throw new AppError(
          'NOT_SUPPORTED',
          'The profile of 2021 has no JWT; leave out `profile`, or ask for `application/json`.',
        );
      }
      const form = isJwt ? 'bitstring-jwt' : query.profile === '2021' ? 'bitstring-2021' : 'bitstring';
      const document = await documentOf(params.listId, form);
      return sendFinished(reply.request, reply, document, {
        ...kept,
        vary: 'Accept',
        'content-type': isJwt ? 'application/vc+jwt' : 'application/json; charset=utf-8',
      });
    },
  );

  app.get(
    '/v1/status-lists/:listId',
    {
      config: { ...isOpen, failures: ['NOT_FOUND', 'NOT_SUPPORTED'] },
      schema: {
        operationId: 'verifiableCredentials.tokenStatusList',
        summary: 'Read a Token Status List',
        params: ListPath,
        querystring: TokenListQuery,
        response: { 200: TokenText, 304: Type.Null() },
      },
    },
    async ({ params, query }, reply) => {
      if (query.time !== undefined) {
        throw new AppError(
          'NOT_SUPPORTED',
          'The service keeps no former states of a status list; leave out `time`.',
        );
      }
      return sendFinished(reply.request, reply, await documentOf(params.listId, 'token-list'), {
        ...kept,
        'content-type': 'application/statuslist+jwt',
      });
    },
  );

  app.get(
    '/ns/credentials/v1',
    {
      config: { access: 'none', rate: 'default', isPublic: true, failures: [] },
      schema: {
        operationId: 'verifiableCredentials.vocabulary',
        summary: 'Read the terms of the credentials',
        response: { 200: VocabularyText, 304: Type.Null() },
      },
    },
    async (request, reply) =>
      sendFinished(request, reply, terms, {
        'content-type': 'application/ld+json',
        'cache-control': 'public, max-age=31536000, immutable',
      }),
  );
};
