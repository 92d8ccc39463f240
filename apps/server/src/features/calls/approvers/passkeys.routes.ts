import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { rates } from './approvers.rates.ts';
import { ApproverPath, NewPasskey, OwnPasskey, OwnPasskeys, SignInOptions } from './approvers.schema.ts';
import type { ApproverDeps } from './deps.ts';
import { addPasskey, beginPasskey, listOwnPasskeys, removePasskey } from './passkeys.ts';

const signedIn = { access: 'approver', fromOwnPages: true, rate: rates.console } as const;

export const approverPasskeyRoutes: FastifyPluginAsyncTypebox<ApproverDeps> = async (app, deps) => {
  app.get(
    '/v1/approver/passkeys',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'approver.passkeys',
        summary: 'List one’s own passkeys, newest first',
        response: { 200: OwnPasskeys },
      },
    },
    (request) => listOwnPasskeys(deps, callerOf(request)),
  );

  app.post(
    '/v1/approver/passkeys/options',
    {
      config: { ...signedIn, failures: ['CONFLICT'] },
      schema: {
        operationId: 'approver.passkeyOptions',
        summary: 'Begin to make a further passkey, within five minutes of the last sign-in',
        body: NoFields,
        response: { 200: SignInOptions },
      },
    },
    (request) => beginPasskey(deps, callerOf(request)),
  );

  app.post(
    '/v1/approver/passkeys/verify',
    {
      config: {
        ...signedIn,
        failures: ['CHALLENGE_INVALID', 'WEBAUTHN_VERIFICATION_FAILED', 'CONFLICT'],
      },
      schema: {
        operationId: 'approver.addPasskey',
        summary: 'Add the passkey that the authenticator has made',
        body: NewPasskey,
        response: { 201: OwnPasskey },
      },
    },
    async (request, reply) => reply.code(201).send(await addPasskey(deps, callerOf(request), request.body)),
  );

  app.delete(
    '/v1/approver/passkeys/:id',
    {
      config: { ...signedIn, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'approver.removePasskey',
        summary: 'Remove one of one’s own passkeys, and end the sessions of other browsers',
        params: ApproverPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removePasskey(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
