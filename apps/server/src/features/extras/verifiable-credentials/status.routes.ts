import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { AppError } from '../../../platform/errors.ts';
import { sendFinished } from '../../../platform/http/answers/send-finished.ts';
import type { CredentialDeps } from './sign.ts';
import { MAX_AGE_SECONDS, statusLists, vocabularyDocument } from './status.ts';
import { rates } from './verifiable-credentials.rates.ts';
import {
  ListPath,
  ListQuery,
  StatusListCredential,
  TokenListQuery,
  Vocabulary,
} from './verifiable-credentials.schema.ts';

/** The routes send finished documents; the shapes are for the API description. */
const ListText = Type.Unsafe<string>(StatusListCredential);
const TokenText = Type.Unsafe<string>(Type.String());
const VocabularyText = Type.Unsafe<string>(Vocabulary);

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
