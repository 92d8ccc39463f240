import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { asksForPage, sendInterstitial } from '../../../platform/http/answers/plain-page.ts';
import { callerAs, callerOf, cookiesIn } from '../../../platform/http/callers/credentials.ts';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { cookieName, isSecure, type PageHold, signOnIn } from './browser.ts';
import { takeCallback } from './callback.ts';
import { cancel, confirm } from './confirm.ts';
import { rates } from './connections.rates.ts';
import {
  ConnectConfirmation,
  ConnectPageState,
  ConnectPath,
  ConnectRedirect,
  ConnectStart,
  EndedConnections,
  OpenConnectPage,
  OpenedConnectPage,
  UpstreamAnswer,
} from './connections.schema.ts';
import type { ConnectDeps } from './deps.ts';
import { openPage, showPage } from './page.ts';
import { startDance } from './start.ts';

/** The page of a browser that comes back. @public The check of the messages reads it. */
export const texts = {
  title: 'Connecting your account',
  lead: 'The other service has sent you back. If this page stays, go on by the button.',
  button: 'Continue',
};

type Landing = Pick<FastifyRequest, 'id' | 'ip' | 'headers'> & { readonly params: ConnectPath };

export const connectRoutes: FastifyPluginAsyncTypebox<ConnectDeps> = async (app, deps) => {
  const holdOf = holdReader(deps);

  const landed = async (
    { id: requestId, ip, headers, params }: Landing,
    reply: FastifyReply,
    answer: URLSearchParams,
  ) => {
    const browser = { requestId, ip, userAgent: headers['user-agent'], cookies: cookiesIn(headers) };
    const to = await takeCallback(deps, params.id, answer, browser);
    return reply
      .headers({ 'cache-control': 'no-store', 'content-type': 'text/plain; charset=utf-8', location: to })
      .code(303)
      .send('');
  };

  addPage(app, {
    name: 'connect',
    feature: 'connections',
    summary: 'The page on which a person connects an account',
    folder: `${import.meta.dirname}/page`,
    isTranslated: true,
  });

  app.get(
    '/connect/callback/:id',
    {
      config: {
        access: 'none',
        actsOnGet: true,
        rate: rates.connectCallback,
        errors: 'page',
        failures: [],
      },
      schema: {
        hide: true,
        operationId: 'connections.callback',
        summary: 'Takes the answer of an upstream, for the provider that the path names',
        params: ConnectPath,
        response: { 200: Type.String(), 303: Type.String() },
      },
    },
    async (request, reply) =>
      asksForPage(request)
        ? sendInterstitial(request, reply, texts)
        : landed(request, reply, new URLSearchParams(request.url.split('?')[1] ?? '')),
  );

  app.post(
    '/connect/callback/:id',
    {
      config: {
        access: 'none',
        fromOwnPages: true,
        takesForm: 'only',
        rate: rates.connectCallback,
        errors: 'page',
        failures: [],
      },
      schema: {
        hide: true,
        operationId: 'connections.callbackForm',
        summary: 'Takes the answer of an upstream, from the page of its address',
        params: ConnectPath,
        body: UpstreamAnswer,
        response: { 303: Type.String() },
      },
    },
    async (request, reply) => {
      const fields = Object.entries(request.body).map(([name, value]): [string, string] => [
        name,
        String(value),
      ]);
      return landed(request, reply, new URLSearchParams(fields));
    },
  );

  app.post(
    '/v1/connect/:id/session',
    {
      config: {
        access: 'none',
        fromOwnPages: true,
        rate: rates.connect,
        failures: ['CONSENT_REQUIRED', 'NOT_FOUND', 'GONE'],
      },
      schema: {
        operationId: 'connections.open',
        summary: 'Open the page with the ticket in the link',
        params: ConnectPath,
        body: OpenConnectPage,
        response: { 200: OpenedConnectPage },
      },
    },
    async (request, reply) => {
      const { id: requestId, ip, headers } = request;
      const hasAuthorization = headers.authorization !== undefined;
      const { chargeResource: charge } = callerAs(request, 'none');
      const signOn = signOnIn(cookiesIn(headers), deps.publicBaseUrl);
      const browser = { requestId, ip, userAgent: headers['user-agent'], hasAuthorization, charge, signOn };
      const { opened, secret } = await openPage(deps, request.params.id, request.body, browser);
      const cookie = stringifySetCookie({
        name: cookieName(opened.id, deps.publicBaseUrl),
        value: secret,
        path: '/',
        httpOnly: true,
        sameSite: 'lax',
        secure: isSecure(deps.publicBaseUrl),
      });
      return reply.header('set-cookie', cookie).send(opened);
    },
  );

  app.get(
    '/v1/connect/:id',
    {
      config: { ...onPage, failures: ['CONSENT_REQUIRED', 'NOT_FOUND', 'GONE'] },
      schema: {
        operationId: 'connections.show',
        summary: 'Show the person what is connected for whom',
        params: ConnectPath,
        response: { 200: ConnectPageState },
      },
    },
    (request) => showPage(deps, holdOf(request)),
  );

  app.post(
    '/v1/connect/:id/start',
    {
      config: {
        ...onPage,
        failures: [
          'INVALID_SCOPE',
          'CONSENT_REQUIRED',
          'PRINCIPAL_VERIFICATION_REQUIRED',
          'FIDO_REQUIRED',
          'SSO_REQUIRED',
          'NOT_FOUND',
          'GONE',
          'UPSTREAM_ERROR',
        ],
      },
      schema: {
        operationId: 'connections.start',
        summary: 'Go to the upstream as the person',
        params: ConnectPath,
        body: ConnectStart,
        response: { 200: ConnectRedirect },
      },
    },
    (request) => startDance(deps, callerOf(request), holdOf(request), request.body),
  );

  app.post(
    '/v1/connect/:id/confirm',
    {
      config: {
        ...onPage,
        failures: [
          'PLAN_LIMIT_EXCEEDED',
          'CONSENT_REQUIRED',
          'PRINCIPAL_VERIFICATION_REQUIRED',
          'SSO_REQUIRED',
          'CONFLICT',
          'NOT_FOUND',
          'GONE',
          'NOT_CONFIGURED',
          'PRINCIPAL_INACTIVE',
        ],
      },
      schema: {
        operationId: 'connections.confirm',
        summary: 'Connect the account that came back',
        params: ConnectPath,
        body: ConnectConfirmation,
        response: { 200: EndedConnections },
      },
    },
    (request) => confirm(deps, callerOf(request), holdOf(request), request.body),
  );

  app.post(
    '/v1/connect/:id/cancel',
    {
      config: { ...onPage, failures: ['CONSENT_REQUIRED', 'NOT_FOUND', 'GONE'] },
      schema: {
        operationId: 'connections.abandon',
        summary: 'Go no further as the person',
        params: ConnectPath,
        body: NoFields,
        response: { 200: EndedConnections },
      },
    },
    (request) => cancel(deps, callerOf(request), holdOf(request)),
  );
};

interface FromBrowser {
  readonly params: { readonly id: string };
  readonly headers: { readonly cookie?: string | undefined; readonly 'accept-language'?: string | undefined };
}

/** The calls of the page, by the browser that holds it. */
export const onPage = { access: 'connect', fromOwnPages: true, rate: rates.connect } as const;

/** Reads the claim of a browser to a connect session. */
export const holdReader =
  ({ publicBaseUrl }: Pick<ConnectDeps, 'publicBaseUrl'>) =>
  ({ params, headers }: FromBrowser): PageHold => ({
    sessionId: params.id,
    secret: cookiesIn(headers)[cookieName(params.id, publicBaseUrl)] ?? '',
    signOn: signOnIn(cookiesIn(headers), publicBaseUrl),
    languages: headers['accept-language'],
  });
