import { Assertion, AssertionOptions } from '@behest/protocol/passkey-shapes';
import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { stringifySetCookie } from 'cookie';
import { callerAs, callerOf, cookiesIn } from '../../../platform/http/callers/credentials.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { LocalesQuery } from '../../../platform/languages.ts';
import { passkeyRates } from '../../people/passkeys/index.ts';
import { CreatedPrincipalSession } from '../../people/principals/index.ts';
import {
  ConsentApproval,
  ConsentApprovalResult,
  ConsentDenial,
  ConsentDenialResult,
  ConsentPasskeyRequest,
  ConsentPath,
  ConsentRequest,
  ConsentSessionRequest,
  ConsentSessionResponse,
  EmailCodeCheck,
  EmailCodeResult,
  PasskeyVerification,
  SentEmailCode,
  SignOnRedirect,
} from './consent.schema.ts';
import { approve, deny, openOwnPage } from './decide.ts';
import { checkCode, sendCode } from './email.ts';
import { askForPasskey, takePasskey } from './passkey.ts';
import {
  type ConsentDeps,
  type ConsentSession,
  cookieName,
  isSecure,
  openSession,
  showRequest,
  signOnCookieName,
} from './session.ts';
import { signOnAddress } from './verify.ts';

export const consentRoutes: FastifyPluginAsyncTypebox<ConsentDeps> = async (app, deps) => {
  const holdOf = holdReader(deps);

  addPage(app, {
    name: 'consent',
    feature: 'consent',
    summary: 'The page on which a person decides',
    folder: `${import.meta.dirname}/page`,
    isTranslated: true,
  });

  app.post(
    '/v1/consent/:id/session',
    {
      config: {
        access: 'none',
        fromOwnPages: true,
        rate: rates.consent,
        failures: ['CONSENT_REQUIRED', 'NOT_FOUND', 'GONE'],
      },
      schema: {
        operationId: 'consent.open',
        summary: "Open the page's session with the ticket in the link",
        params: ConsentPath,
        body: ConsentSessionRequest,
        response: { 200: ConsentSessionResponse },
      },
    },
    async (request, reply) => {
      const { id: requestId, ip, headers } = request;
      const hasAuthorization = headers.authorization !== undefined;
      const { chargeResource: charge } = callerAs(request, 'none');
      const session = holdOf(request);
      const browser = { requestId, ip, userAgent: headers['user-agent'], hasAuthorization, charge, session };
      const { opened, secret } = await openSession(deps, request.params.id, request.body, browser);
      const secure = isSecure(deps.publicBaseUrl);
      const cookie = stringifySetCookie({
        name: cookieName(opened.id, deps.publicBaseUrl),
        value: secret,
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure,
      });
      return reply.header('set-cookie', cookie).send(opened);
    },
  );

  app.get(
    '/v1/consent/:id',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: rates.consent,
        failures: ['CONSENT_REQUIRED', 'NOT_FOUND', 'GONE'],
      },
      schema: {
        operationId: 'consent.show',
        summary: 'Show the request to the person',
        params: ConsentPath,
        response: { 200: ConsentRequest },
      },
    },
    (request) => showRequest(deps, holdOf(request)),
  );

  app.get(
    '/v1/consent/:id/sso',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: rates.consent,
        failures: ['CONSENT_REQUIRED', 'CONFLICT', 'NOT_FOUND', 'GONE'],
      },
      schema: {
        operationId: 'consent.signOn',
        summary:
          'Find the address at which the person signs in, and from which the browser comes back to the page',
        params: ConsentPath,
        querystring: LocalesQuery,
        response: { 200: SignOnRedirect },
      },
    },
    (request) => signOnAddress(deps, holdOf(request), request.query.ui_locales),
  );

  app.post(
    '/v1/consent/:id/email',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: rates.emailCode,
        failures: [
          'PLAN_LIMIT_EXCEEDED',
          'CONSENT_REQUIRED',
          'CONFLICT',
          'GONE',
          'UPSTREAM_ERROR',
          'NOT_CONFIGURED',
        ],
      },
      schema: {
        operationId: 'consent.sendCode',
        summary: 'Send the person a code by mail',
        params: ConsentPath,
        body: NoFields,
        response: { 201: SentEmailCode },
      },
    },
    async (request, reply) => reply.code(201).send(await sendCode(deps, callerOf(request), holdOf(request))),
  );

  app.post(
    '/v1/consent/:id/email/verify',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: rates.emailCode,
        failures: ['CONSENT_REQUIRED', 'TOKEN_EXPIRED', 'GONE'],
      },
      schema: {
        operationId: 'consent.checkCode',
        summary: 'Check the code that the person typed',
        params: ConsentPath,
        body: EmailCodeCheck,
        response: { 200: EmailCodeResult },
      },
    },
    (request) => checkCode(deps, callerOf(request), holdOf(request), request.body.code),
  );

  app.post(
    '/v1/consent/:id/approve',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: rates.consent,
        failures: [
          'PRINCIPAL_INACTIVE',
          'SSO_REQUIRED',
          'SSO_SCOPE_DENIED',
          'POLICY_DENIED',
          'INVALID_SCOPE',
          'CONSENT_REQUIRED',
          'PRINCIPAL_VERIFICATION_REQUIRED',
          'FIDO_REQUIRED',
          'CONFLICT',
          'GONE',
        ],
      },
      schema: {
        operationId: 'consent.approve',
        summary: 'Approve the request, or less of it, as the person',
        params: ConsentPath,
        body: ConsentApproval,
        response: { 200: ConsentApprovalResult },
      },
    },
    (request) => approve(deps, callerOf(request), holdOf(request), request.body),
  );

  app.post(
    '/v1/consent/:id/deny',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: rates.consent,
        failures: ['CONSENT_REQUIRED', 'GONE'],
      },
      schema: {
        operationId: 'consent.deny',
        summary: 'Deny the request as the person',
        params: ConsentPath,
        body: ConsentDenial,
        response: { 200: ConsentDenialResult },
      },
    },
    (request) => deny(deps, callerOf(request), request.params.id, request.body),
  );

  app.post(
    '/v1/consent/:id/permissions',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: rates.consent,
        failures: [
          'CONSENT_REQUIRED',
          'PRINCIPAL_VERIFICATION_REQUIRED',
          'FIDO_REQUIRED',
          'SSO_REQUIRED',
          'PRINCIPAL_INACTIVE',
          'NOT_FOUND',
        ],
      },
      schema: {
        operationId: 'consent.openPermissions',
        summary: 'Open the page of the own permissions, for a person who has shown who they are on this page',
        params: ConsentPath,
        body: NoFields,
        response: { 201: CreatedPrincipalSession },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await openOwnPage(deps, callerOf(request), holdOf(request))),
  );
};

export const rates = rateRules({
  consent: {
    perMinute: 30,
    describes:
      '`/v1/consent/*`, by authorization request for the holder of its ticket or cookie; four times as many by client address',
    counts: [{ by: 'resource' }, { by: 'address', factor: 4 }],
  },
  emailCode: {
    perMinute: 5,
    describes:
      'sending and checking a mailed code, by authorization request for the holder of its cookie; 24 times as many by client address',
    counts: [{ by: 'resource' }, { by: 'address', factor: 24 }],
  },
});

/** Counts proofs by passkeys, wherever a person gives them. */
const assertRate = passkeyRates.assert;

interface FromBrowser {
  readonly params: { readonly id: string };
  readonly headers: {
    readonly cookie?: string | undefined;
    readonly 'accept-language'?: string | undefined;
  };
}

/** Reads the claim of a browser to a request. */
const holdReader =
  ({ publicBaseUrl }: Pick<ConsentDeps, 'publicBaseUrl'>) =>
  ({ params, headers }: FromBrowser): ConsentSession => ({
    requestId: params.id,
    secret: cookiesIn(headers)[cookieName(params.id, publicBaseUrl)] ?? '',
    signOn: cookiesIn(headers)[signOnCookieName(publicBaseUrl)],
    languages: headers['accept-language'],
  });

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
        body: ConsentPasskeyRequest,
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
        response: { 200: PasskeyVerification },
      },
    },
    (request) => takePasskey(deps, callerOf(request), holdOf(request), request.body),
  );
};
