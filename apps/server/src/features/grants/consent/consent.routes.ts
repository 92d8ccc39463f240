import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { stringifySetCookie } from 'cookie';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { rates } from './consent.rates.ts';
import {
  CheckCode,
  CheckedCode,
  ConsentApproval,
  ConsentApproved,
  ConsentDenial,
  ConsentDenied,
  ConsentPath,
  OpenedSession,
  OpenSession,
  SentCode,
  ShownRequest,
  SignOn,
} from './consent.schema.ts';
import { approve, deny } from './decide.ts';
import { checkCode, sendCode } from './email.ts';
import { holdReader } from './hold.routes.ts';
import { type ConsentDeps, cookieName, isSecure, openSession, showRequest } from './session.ts';
import { signOnAddress } from './sign-on.ts';

export const consentRoutes: FastifyPluginAsyncTypebox<ConsentDeps> = async (app, deps) => {
  const holdOf = holdReader(deps);

  addPage(app, {
    name: 'consent',
    feature: 'consent',
    summary: 'The page on which a person decides',
    folder: `${import.meta.dirname}/page`,
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
        body: OpenSession,
        response: { 200: OpenedSession },
      },
    },
    async (request, reply) => {
      const { id: requestId, ip, headers } = request;
      const hasAuthorization = headers.authorization !== undefined;
      const charge = request.chargeResource;
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
        response: { 200: ShownRequest },
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
        response: { 200: SignOn },
      },
    },
    (request) => signOnAddress(deps, holdOf(request)),
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
        response: { 201: SentCode },
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
        body: CheckCode,
        response: { 200: CheckedCode },
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
        response: { 200: ConsentApproved },
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
        response: { 200: ConsentDenied },
      },
    },
    (request) => deny(deps, callerOf(request), request.params.id, request.body),
  );
};
