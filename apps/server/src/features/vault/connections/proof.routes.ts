import { Assertion, AssertionOptions } from '@behest/protocol/passkey-shapes';
import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { LocalesQuery } from '../../../platform/languages.ts';
import { assertRate, rates } from './connections.rates.ts';
import { holdReader, onPage } from './connections.routes.ts';
import {
  ConnectCodeCheck,
  ConnectCodeSent,
  ConnectHint,
  ConnectPath,
  ConnectRedirect,
  ConnectVerified,
} from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';
import { askForPasskey, checkCode, sendCode, signOnAddress, takeHint, takePasskey } from './proof.ts';

const withPasskey = { ...onPage, rate: assertRate } as const;
const withCode = { ...onPage, rate: rates.connectCode } as const;

/** The ways in which a browser at the page proves its person. */
export const proofRoutes: FastifyPluginAsyncTypebox<ConnectDeps> = async (app, deps) => {
  const holdOf = holdReader(deps);

  app.post(
    '/v1/connect/:id/hint',
    {
      config: { ...onPage, failures: ['CONSENT_REQUIRED', 'NOT_FOUND', 'GONE'] },
      schema: {
        operationId: 'connections.hint',
        summary: "Show the developer's word for the person in this browser",
        params: ConnectPath,
        body: ConnectHint,
        response: { 200: ConnectVerified },
      },
    },
    (request) => takeHint(deps, callerOf(request), holdOf(request), request.body.hint),
  );

  app.get(
    '/v1/connect/:id/sso',
    {
      config: { ...onPage, failures: ['CONSENT_REQUIRED', 'CONFLICT', 'NOT_FOUND', 'GONE'] },
      schema: {
        operationId: 'connections.signOn',
        summary:
          'Find the address at which the person signs in, and from which the browser comes back to the page',
        params: ConnectPath,
        querystring: LocalesQuery,
        response: { 200: ConnectRedirect },
      },
    },
    (request) => signOnAddress(deps, holdOf(request), request.query.ui_locales),
  );

  app.post(
    '/v1/connect/:id/email',
    {
      config: {
        ...withCode,
        failures: [
          'PLAN_LIMIT_EXCEEDED',
          'CONSENT_REQUIRED',
          'NOT_FOUND',
          'CONFLICT',
          'GONE',
          'UPSTREAM_ERROR',
          'NOT_CONFIGURED',
        ],
      },
      schema: {
        operationId: 'connections.sendCode',
        summary: 'Send the person a code by mail',
        params: ConnectPath,
        body: NoFields,
        response: { 201: ConnectCodeSent },
      },
    },
    async (request, reply) => reply.code(201).send(await sendCode(deps, callerOf(request), holdOf(request))),
  );

  app.post(
    '/v1/connect/:id/email/verify',
    {
      config: { ...withCode, failures: ['CONSENT_REQUIRED', 'TOKEN_EXPIRED', 'NOT_FOUND', 'GONE'] },
      schema: {
        operationId: 'connections.checkCode',
        summary: 'Check the code that the person typed',
        params: ConnectPath,
        body: ConnectCodeCheck,
        response: { 200: ConnectVerified },
      },
    },
    (request) => checkCode(deps, callerOf(request), holdOf(request), request.body.code),
  );

  app.post(
    '/v1/connect/:id/passkey/options',
    {
      config: {
        ...withPasskey,
        failures: ['FIDO_NOT_ENROLLED', 'CONSENT_REQUIRED', 'NOT_FOUND', 'GONE', 'CONFLICT'],
      },
      schema: {
        operationId: 'connections.passkeyOptions',
        summary: "Ask for the person's passkey over what is to be connected",
        params: ConnectPath,
        body: NoFields,
        response: { 200: AssertionOptions },
      },
    },
    (request) => askForPasskey(deps, callerOf(request), holdOf(request)),
  );

  app.post(
    '/v1/connect/:id/passkey/verify',
    {
      config: {
        ...withPasskey,
        failures: [
          'CHALLENGE_INVALID',
          'WEBAUTHN_VERIFICATION_FAILED',
          'WEBAUTHN_CLONE_SUSPECTED',
          'CONSENT_REQUIRED',
          'NOT_FOUND',
          'GONE',
          'CONFLICT',
        ],
      },
      schema: {
        operationId: 'connections.passkeyVerify',
        summary: "Check the answer of the person's passkey",
        params: ConnectPath,
        body: Assertion,
        response: { 200: ConnectVerified },
      },
    },
    (request) => takePasskey(deps, callerOf(request), holdOf(request), request.body),
  );
};
