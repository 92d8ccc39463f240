import { Assertion } from '@behest/protocol/passkey-shapes';
import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, cookiesIn, sessionOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { byStranger, CreatedPrincipalSession } from '../principals/index.ts';
import { cookieNames } from '../sso/index.ts';
import { changePasskey, listOwnPasskeys, listPasskeys, removeOwnPasskey, removePasskey } from './manage.ts';
import {
  CreatedPasskey,
  OwnPasskeyPage,
  OwnPasskeyQuery,
  Passkey,
  PasskeyChange,
  PasskeyCreationOptions,
  PasskeyPage,
  PasskeyPath,
  PasskeyQuery,
  PasskeyRegistrationRequest,
  PasskeySignInOptions,
  VerifyPasskeyRegistration,
} from './passkeys.schema.ts';
import { beginRegistration, finishRegistration } from './register.ts';
import { beginSignIn, finishSignIn, type SignInDeps } from './sign-in.ts';

export const rates = rateRules({
  assert: {
    perMinute: 20,
    describes:
      'proving a person by a passkey, by authorization request or connect session for the holder of its cookie, and by client address',
    counts: [{ by: 'resource' }, { by: 'address' }],
  },
});

const forDeveloper = { access: 'developer', role: 'full', rate: 'default' } as const;

export const passkeyRoutes: FastifyPluginAsyncTypebox<SignInDeps> = async (app, deps) => {
  app.post(
    '/v1/webauthn/register/options',
    {
      config: { ...forDeveloper, capability: 'never', failures: ['PRINCIPAL_INACTIVE', 'CONFLICT'] },
      schema: {
        operationId: 'webauthn.registerOptions',
        summary: 'Begin to register a passkey of a principal who is signed in',
        body: PasskeyRegistrationRequest,
        response: { 200: PasskeyCreationOptions },
      },
    },
    (request) => beginRegistration(depsFor(request, deps), callerOf(request), request.body.principalId),
  );

  app.post(
    '/v1/webauthn/register/verify',
    {
      config: {
        ...forDeveloper,
        capability: 'never',
        failures: ['CHALLENGE_INVALID', 'WEBAUTHN_VERIFICATION_FAILED', 'PRINCIPAL_INACTIVE', 'CONFLICT'],
      },
      schema: {
        operationId: 'webauthn.registerVerify',
        summary: 'Store the passkey that the authenticator has made',
        body: VerifyPasskeyRegistration,
        response: { 201: CreatedPasskey },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await finishRegistration(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/webauthn/credentials',
    {
      config: { ...forDeveloper, capability: 'read', failures: [] },
      schema: {
        operationId: 'webauthn.listCredentials',
        summary: 'List the passkeys of a principal, newest first',
        querystring: PasskeyQuery,
        response: { 200: PasskeyPage },
      },
    },
    (request) => listPasskeys(deps, callerOf(request), request.query),
  );

  app.patch(
    '/v1/webauthn/credentials/:id',
    {
      config: { ...forDeveloper, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'webauthn.changeCredential',
        summary: 'Rename a passkey, or clear the suspicion that there is a copy of it',
        params: PasskeyPath,
        body: PasskeyChange,
        response: { 200: Passkey },
      },
    },
    (request) => changePasskey(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/webauthn/credentials/:id',
    {
      config: { ...forDeveloper, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'webauthn.deleteCredential',
        summary: 'Remove a passkey',
        params: PasskeyPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removePasskey(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/principal/passkeys',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'webauthn.own',
        summary: "List the principal's passkeys, newest first",
        querystring: OwnPasskeyQuery,
        response: { 200: OwnPasskeyPage },
      },
    },
    (request) => listOwnPasskeys(deps, sessionOf(request), request.query),
  );

  app.delete(
    '/v1/principal/passkeys/:id',
    {
      config: {
        access: 'session',
        rate: 'default',
        failures: ['PRINCIPAL_VERIFICATION_REQUIRED', 'NOT_FOUND'],
      },
      schema: {
        operationId: 'webauthn.removeOwn',
        summary: "Remove one of the principal's passkeys",
        params: PasskeyPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeOwnPasskey(deps, sessionOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/principal/sign-in/passkey',
    {
      config: { ...byStranger, failures: ['CONFLICT'] },
      schema: {
        operationId: 'webauthn.signInOptions',
        summary: 'Ask for the passkey of a person who comes by themselves',
        body: NoFields,
        response: { 200: PasskeySignInOptions },
      },
    },
    () => beginSignIn(deps),
  );

  app.post(
    '/v1/principal/sign-in/passkey/verify',
    {
      config: {
        ...byStranger,
        failures: [
          'CHALLENGE_INVALID',
          'WEBAUTHN_VERIFICATION_FAILED',
          'WEBAUTHN_CLONE_SUSPECTED',
          'UNAUTHORIZED',
          'PRINCIPAL_INACTIVE',
          'SSO_REQUIRED',
          'CONFLICT',
        ],
      },
      schema: {
        operationId: 'webauthn.signIn',
        summary: 'Open the page of the own permissions with a passkey',
        body: Assertion,
        response: { 201: CreatedPrincipalSession },
      },
    },
    async (request, reply) => {
      const signOn = cookiesIn(request.headers)[cookieNames(deps.publicBaseUrl).session];
      return reply.code(201).send(await finishSignIn(deps, request.body, { requestId: request.id, signOn }));
    },
  );
};
