import { Assertion, AssertionOptions } from '@behest/protocol/passkey-shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { assertRate } from './consent.rates.ts';
import { AskForPasskey, ConsentPath, Proved } from './consent.schema.ts';
import { holdReader } from './hold.routes.ts';
import { askForPasskey, takePasskey } from './passkey.ts';
import type { ConsentDeps } from './session.ts';

const onPage = { access: 'consent', fromOwnPages: true, rate: assertRate } as const;

/** The person proves who they are by a passkey, which signs what they see and choose. */
export const consentPasskeyRoutes: FastifyPluginAsyncTypebox<ConsentDeps> = async (app, deps) => {
  const holdOf = holdReader(deps);

  app.post(
    '/v1/consent/:id/passkey/options',
    {
      config: {
        ...onPage,
        failures: ['FIDO_NOT_ENROLLED', 'INVALID_SCOPE', 'CONSENT_REQUIRED', 'NOT_FOUND', 'GONE', 'CONFLICT'],
      },
      schema: {
        operationId: 'consent.passkeyOptions',
        summary: "Ask for the person's passkey over what they see and choose",
        params: ConsentPath,
        body: AskForPasskey,
        response: { 200: AssertionOptions },
      },
    },
    (request) => askForPasskey(deps, callerOf(request), holdOf(request), request.body.decision),
  );

  app.post(
    '/v1/consent/:id/passkey/verify',
    {
      config: {
        ...onPage,
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
        operationId: 'consent.passkeyVerify',
        summary: "Check the answer of the person's passkey",
        params: ConsentPath,
        body: Assertion,
        response: { 200: Proved },
      },
    },
    (request) => takePasskey(deps, callerOf(request), holdOf(request), request.body),
  );
};
