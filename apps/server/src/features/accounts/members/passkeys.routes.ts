import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { generalRates } from '../../../platform/http/limits/rate-rules.ts';
import { approverRates as rates } from '../../calls/approvers/index.ts';
import { beginSignIn, beginStepUp, finishSignIn, finishStepUp } from './assert.ts';
import {
  AddedMemberPasskey,
  ConsoleSession,
  MemberPasskeyList,
  NewMemberPasskey,
  PasskeyAnswer,
  PasskeyOptions,
  PasskeyPath,
  RecoveryCodes,
} from './members.schema.ts';
import { addPasskey, beginPasskey, listOwnPasskeys, removePasskey } from './passkeys.ts';
import { renewCodes } from './recover.ts';
import { browserOf } from './session.routes.ts';
import type { MemberDeps } from './session.ts';

const stranger = { access: 'none', fromOwnPages: true, onOwnHost: true, rate: rates.consoleSignIn } as const;
const signedIn = { access: 'console', rate: generalRates.console } as const;

export const consolePasskeyRoutes: FastifyPluginAsyncTypebox<MemberDeps> = async (app, deps) => {
  app.post(
    '/v1/console/session/passkey/options',
    {
      config: { ...stranger, failures: ['CONFLICT'] },
      schema: {
        operationId: 'console.signInOptions',
        summary: 'Begin to sign in to the console with a passkey',
        body: NoFields,
        response: { 200: PasskeyOptions },
      },
    },
    () => beginSignIn(deps),
  );

  app.post(
    '/v1/console/session/passkey/verify',
    {
      config: {
        ...stranger,
        failures: [
          ...(['CONFLICT', 'CHALLENGE_INVALID', 'WEBAUTHN_VERIFICATION_FAILED'] as const),
          ...(['WEBAUTHN_CLONE_SUSPECTED', 'UNAUTHORIZED'] as const),
        ],
      },
      schema: {
        operationId: 'console.signIn',
        summary: 'Open the console with a passkey',
        body: PasskeyAnswer,
        response: { 200: ConsoleSession },
      },
    },
    async (request, reply) => {
      const browser = { ...browserOf(deps, request), requestId: request.id };
      const { opened, cookie } = await finishSignIn(deps, request.body, browser);
      return reply.header('set-cookie', cookie).send(opened);
    },
  );

  app.post(
    '/v1/console/session/step-up/options',
    {
      config: { ...signedIn, failures: ['CONFLICT'] },
      schema: {
        operationId: 'console.stepUpOptions',
        summary: 'Begin to use the passkey again',
        body: NoFields,
        response: { 200: PasskeyOptions },
      },
    },
    (request) => beginStepUp(deps, callerOf(request)),
  );

  app.post(
    '/v1/console/session/step-up/verify',
    {
      config: {
        ...signedIn,
        failures: [
          ...(['CONFLICT', 'CHALLENGE_INVALID', 'WEBAUTHN_VERIFICATION_FAILED'] as const),
          'WEBAUTHN_CLONE_SUSPECTED',
        ],
      },
      schema: {
        operationId: 'console.stepUp',
        summary: 'Let this session do for a while what asks for a passkey',
        description: 'The session gets another cookie and another CSRF token.',
        body: PasskeyAnswer,
        response: { 200: ConsoleSession },
      },
    },
    async (request, reply) => {
      const { opened, cookie } = await finishStepUp(deps, callerOf(request), request.body);
      return reply.header('set-cookie', cookie).send(opened);
    },
  );

  app.get(
    '/v1/console/passkeys',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'console.passkeys',
        summary: 'List your passkeys of the console, newest first',
        response: { 200: MemberPasskeyList },
      },
    },
    (request) => listOwnPasskeys(deps, callerOf(request)),
  );

  app.post(
    '/v1/console/passkeys/options',
    {
      config: { ...signedIn, failures: ['CONFLICT', 'STEP_UP_REQUIRED'] },
      schema: {
        operationId: 'console.passkeyOptions',
        summary: 'Begin to register a passkey for the console',
        body: NoFields,
        response: { 200: PasskeyOptions },
      },
    },
    (request) => beginPasskey(deps, callerOf(request)),
  );

  app.post(
    '/v1/console/passkeys',
    {
      config: {
        ...signedIn,
        failures: [
          ...(['CONFLICT', 'STEP_UP_REQUIRED', 'CHALLENGE_INVALID', 'WEBAUTHN_VERIFICATION_FAILED'] as const),
        ],
      },
      schema: {
        operationId: 'console.addPasskey',
        summary: 'Register the passkey that the authenticator has made',
        description: 'A further passkey needs a use of one that is registered.',
        body: NewMemberPasskey,
        response: { 201: AddedMemberPasskey },
      },
    },
    async (request, reply) => {
      const { passkey, session, recoveryCodes } = await addPasskey(deps, callerOf(request), request.body);
      if (session) reply.header('set-cookie', session.cookie);
      return reply.code(201).send({ passkey, session: session?.opened ?? null, recoveryCodes });
    },
  );

  app.post(
    '/v1/console/recovery-codes',
    {
      config: { ...signedIn, stepUp: true, failures: ['CONFLICT'] },
      schema: {
        operationId: 'console.makeRecoveryCodes',
        summary: 'Make yourself other recovery codes',
        description: 'Those from before end.',
        body: NoFields,
        response: { 201: RecoveryCodes },
      },
    },
    async (request, reply) => reply.code(201).send(await renewCodes(deps, callerOf(request))),
  );

  app.delete(
    '/v1/console/passkeys/:id',
    {
      config: { ...signedIn, stepUp: true, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'console.removePasskey',
        summary: 'Remove a passkey, and end your other sessions',
        params: PasskeyPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removePasskey(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
