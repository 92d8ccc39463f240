import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { notFound } from '../../platform/errors.ts';
import { callerOf } from '../../platform/http/credentials.ts';
import { approve, deny } from './consent.decide.service.ts';
import { checkCode, sendCode } from './consent.email.service.ts';
import { loadPage } from './consent.page.service.ts';
import {
  Approve,
  Approved,
  CheckCode,
  CheckedCode,
  ConsentPath,
  Denied,
  Deny,
  NoFields,
  OpenedSession,
  OpenSession,
  PageFile,
  SentCode,
  ShownRequest,
} from './consent.schema.ts';
import {
  type ConsentDeps,
  cookieName,
  isSecure,
  openSession,
  showRequest,
} from './consent.session.service.ts';

/** Nothing but the page's own files, and nothing in it that the browser would run from the document itself. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; img-src 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

interface FromBrowser {
  readonly params: { readonly id: string };
  readonly cookies: Readonly<Record<string, string | undefined>>;
}

const Page = Type.Unsafe<Buffer>(Type.String());

export const consentRoutes: FastifyPluginAsyncTypebox<ConsentDeps> = async (app, deps) => {
  const page = loadPage();
  const cookieOf = (id: string) => cookieName(id, deps.publicBaseUrl);
  const holdOf = ({ params, cookies }: FromBrowser) => ({
    requestId: params.id,
    secret: cookies[cookieOf(params.id)] ?? '',
  });

  app.get(
    '/consent',
    {
      config: { access: 'none', rate: 'default', failures: [] },
      schema: {
        operationId: 'consent.page',
        summary: 'The page on which a person decides',
        response: { 200: Page },
      },
    },
    async (_request, reply) => {
      const shell = page.get('consent.html');
      if (!shell) throw new Error('The consent page has no shell.');
      return reply
        .headers({ 'content-type': shell.type, 'content-security-policy': PAGE_POLICY })
        .send(shell.body);
    },
  );

  app.get(
    '/consent/:file',
    {
      config: { access: 'none', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'consent.file',
        summary: 'A script or style of the consent page',
        params: PageFile,
        response: { 200: Page, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      const file = page.get(request.params.file);
      if (!file || file.type.startsWith('text/html')) throw notFound();
      reply.headers({ 'content-type': file.type, etag: file.etag, 'cache-control': 'no-cache' });
      if (request.headers['if-none-match'] === file.etag) return reply.code(304).send(null);
      return reply.send(file.body);
    },
  );

  app.post(
    '/v1/consent/:id/session',
    {
      config: {
        access: 'none',
        fromOwnPages: true,
        rate: 'consent',
        failures: ['CONSENT_REQUIRED', 'NOT_FOUND', 'GONE'],
      },
      schema: {
        operationId: 'consent.open',
        summary: "Open the page's session with the ticket of the link",
        params: ConsentPath,
        body: OpenSession,
        response: { 200: OpenedSession },
      },
    },
    async (request, reply) => {
      const { id: requestId, ip, headers } = request;
      const hasAuthorization = headers.authorization !== undefined;
      const browser = { requestId, ip, userAgent: headers['user-agent'], hasAuthorization };
      const { opened, secret, expiresAt } = await openSession(deps, request.params.id, request.body, browser);
      const secure = isSecure(deps.publicBaseUrl);
      return reply
        .setCookie(cookieOf(opened.id), secret, {
          path: '/',
          httpOnly: true,
          sameSite: 'lax',
          secure,
          expires: expiresAt,
        })
        .send(opened);
    },
  );

  app.get(
    '/v1/consent/:id',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: 'consent',
        failures: ['CONSENT_REQUIRED', 'NOT_FOUND', 'GONE'],
      },
      schema: {
        operationId: 'consent.show',
        summary: 'What the person is asked',
        params: ConsentPath,
        response: { 200: ShownRequest },
      },
    },
    (request) => showRequest(deps, holdOf(request)),
  );

  app.post(
    '/v1/consent/:id/email',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: 'emailCode',
        failures: ['CONSENT_REQUIRED', 'CONFLICT', 'GONE', 'UPSTREAM_ERROR', 'NOT_CONFIGURED'],
      },
      schema: {
        operationId: 'consent.sendCode',
        summary: 'Send the person a code by mail',
        params: ConsentPath,
        body: NoFields,
        response: { 201: SentCode },
      },
    },
    async (request, reply) => reply.code(201).send(await sendCode(deps, holdOf(request))),
  );

  app.post(
    '/v1/consent/:id/email/verify',
    {
      config: {
        access: 'consent',
        fromOwnPages: true,
        rate: 'emailCode',
        failures: ['CONSENT_REQUIRED', 'TOKEN_EXPIRED', 'GONE'],
      },
      schema: {
        operationId: 'consent.checkCode',
        summary: 'Take the code that the person has read',
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
        rate: 'consent',
        failures: [
          'INVALID_SCOPE',
          'CONSENT_REQUIRED',
          'PRINCIPAL_VERIFICATION_REQUIRED',
          'FIDO_REQUIRED',
          'GONE',
        ],
      },
      schema: {
        operationId: 'consent.approve',
        summary: 'The person allows it, or less of it',
        params: ConsentPath,
        body: Approve,
        response: { 200: Approved },
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
        rate: 'consent',
        failures: ['CONSENT_REQUIRED', 'GONE'],
      },
      schema: {
        operationId: 'consent.deny',
        summary: 'The person refuses',
        params: ConsentPath,
        body: Deny,
        response: { 200: Denied },
      },
    },
    (request) => deny(deps, callerOf(request), request.params.id, request.body),
  );
};
