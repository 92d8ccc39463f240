import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  asksForPage,
  sendInterstitial,
  sendOnward,
  sendPage,
} from '../../../platform/http/answers/plain-page.ts';
import { cookiesIn } from '../../../platform/http/callers/credentials.ts';
import { type Ended, type SignInClient, takeOidcAnswer, takeSamlAnswer } from './callback.ts';
import { metadataOf } from './connections.ts';
import type { SsoDeps } from './deps.ts';
import { takePassword } from './ldap.ts';
import {
  CreatedSsoSession,
  DiscoverQuery,
  LdapLogin,
  LoginQuery,
  LogoutQuery,
  MetadataPath,
  OidcCallback,
  OidcFormPost,
  OidcQuery,
  SamlResponse,
  SsoDiscovery,
  SsoLoginStart,
  SsoLogout,
} from './login.schema.ts';
import { beginLogin, discoverConnection } from './login.ts';
import {
  cookieNames,
  endedLoginLines,
  isSignedIn,
  loginCookieLines,
  loginSecretsIn,
  sessionCookie,
  signOut,
} from './logout.ts';
import { rates } from './sso.rates.ts';

const open = { access: 'none', errors: 'page' } as const;

/** The pages of a browser's way. @public The check of the messages reads it. */
export const texts = {
  signedOut: { title: 'You are signed out', lead: 'You can close this window.' },
  signingIn: {
    title: 'Signing you in',
    lead: 'Your organisation has sent you back. If this page stays, go on by the button.',
    button: 'Continue',
  },
  signOut: {
    title: 'Sign out?',
    lead: 'You are signed in through your organisation.',
    button: 'Sign out',
  },
  /** What refusals of a login say. */
  refused: 'The sign-in was refused. Begin again.',
  over: 'This login is unknown, over or used already, or of another browser. Begin again.',
};

/** The login itself, which needs no credential. */
export const ssoLoginRoutes: FastifyPluginAsyncTypebox<SsoDeps> = async (app, deps) => {
  const { session, isSecure } = cookieNames(deps.publicBaseUrl);

  const { bringer, ended, endedByForm } = endsOfLogin(deps);

  app.get(
    '/sso/login',
    {
      config: {
        ...open,
        actsOnGet: true,
        rate: rates.ssoLogin,
        failures: ['SSO_DOMAIN_REQUIRED', 'NOT_FOUND', 'SSO_ERROR'],
      },
      schema: {
        operationId: 'sso.login',
        summary: 'Begin a login at an identity provider',
        description:
          'With `Accept: text/html` or `mode=redirect` the browser is sent to the provider. Otherwise the answer names the address, and the caller binds `state` to its own browser session.',
        querystring: LoginQuery,
        response: { 200: SsoLoginStart, 302: Type.Null() },
      },
    },
    async (request, reply) => {
      const { mode } = request.query;
      const isBrowser = mode === 'redirect' || (mode === undefined && asksForPage(request));
      const { start, browserSecret } = await beginLogin(deps, request.query, isBrowser);
      reply.header('cache-control', 'no-store');
      if (browserSecret === undefined) return reply.send(start);
      const isPost = start.protocol === 'saml'; // its answer is a POST from another site
      const sameSite = isPost && isSecure ? 'none' : 'lax';
      const added = { secret: browserSecret, sameSite } as const;
      for (const line of loginCookieLines(cookiesIn(request.headers), deps.publicBaseUrl, added)) {
        reply.header('set-cookie', line);
      }
      return reply.redirect(start.authorizeUrl, 302);
    },
  );

  app.get(
    '/sso/discover',
    {
      config: { ...open, rate: rates.ssoDiscover, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'sso.discover',
        summary: 'Find the connection of a verified domain',
        querystring: DiscoverQuery,
        response: { 200: SsoDiscovery },
      },
    },
    (request) => discoverConnection(deps, request.query),
  );

  app.get(
    '/sso/callback',
    {
      config: { ...open, actsOnGet: true, rate: rates.ssoCallback, failures: LOGIN_FAILURES },
      schema: {
        operationId: 'sso.callback',
        summary: 'Take the answer of an OpenID provider from a browser',
        description:
          'A browser that asks for a page gets one that posts the same parameters, so that fetching the address uses no code up.',
        querystring: OidcQuery,
        response: { 200: CreatedSsoSession, 302: Type.Null() },
      },
    },
    async (request, reply) =>
      asksForPage(request)
        ? sendInterstitial(request, reply, texts.signingIn)
        : ended(reply, await takeOidcAnswer(deps, request.query, bringer(request))),
  );

  app.post(
    '/sso/callback',
    {
      config: {
        ...open,
        fromOwnPages: true,
        rate: rates.ssoCallback,
        failures: LOGIN_FAILURES,
        takesForm: true,
      },
      schema: {
        operationId: 'sso.callbackForm',
        summary: 'Take the answer of an OpenID provider from the page of its address',
        body: OidcFormPost,
        response: { 200: CreatedSsoSession, 302: Type.Null() },
      },
    },
    async (request, reply) =>
      endedByForm(request, reply, await takeOidcAnswer(deps, request.body, bringer(request))),
  );

  app.post(
    '/sso/callback/oidc',
    {
      config: { access: 'none', rate: rates.ssoCallback, failures: LOGIN_FAILURES },
      schema: {
        operationId: 'sso.callbackOidc',
        summary: 'Take the answer of an OpenID provider from a program',
        body: OidcCallback,
        response: { 200: CreatedSsoSession, 302: Type.Null() },
      },
    },
    async (request, reply) => ended(reply, await takeOidcAnswer(deps, request.body, bringer(request))),
  );

  app.post(
    '/sso/callback/saml',
    {
      bodyLimit: 2 * deps.responseLimit, // base64 and the form make it larger by half,
      config: { ...open, rate: rates.ssoCallback, failures: LOGIN_FAILURES, takesForm: true },
      schema: {
        operationId: 'sso.callbackSaml',
        summary: 'Take the answer of a SAML identity provider',
        body: SamlResponse,
        response: { 200: CreatedSsoSession, 302: Type.Null() },
      },
    },
    async (request, reply) => ended(reply, await takeSamlAnswer(deps, request.body, bringer(request))),
  );

  app.post(
    '/sso/callback/ldap',
    {
      config: { access: 'none', rate: rates.ssoLdap, failures: LOGIN_FAILURES },
      schema: {
        operationId: 'sso.callbackLdap',
        summary: 'Sign a person in with the password of a directory',
        body: LdapLogin,
        response: { 200: CreatedSsoSession },
      },
    },
    async (request, reply) => {
      const { signedIn } = await takePassword(deps, request.body, bringer(request));
      return reply.header('cache-control', 'no-store').send(signedIn);
    },
  );

  app.get(
    '/sso/logout',
    {
      config: { ...open, rate: rates.ssoCallback, failures: [] },
      schema: {
        operationId: 'sso.logoutPage',
        summary: 'Show the page on which a person signs out',
        description: 'It ends nothing: a link from another site reaches it too.',
        querystring: LogoutQuery,
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      const cookie = cookiesIn(request.headers)[session];
      const { return_to: returnTo } = request.query;
      reply.header('cache-control', 'no-store');
      if (!(await isSignedIn(deps, { cookie, returnTo }))) return sendPage(reply, texts.signedOut);
      return sendPage(reply, texts.signOut);
    },
  );

  app.post(
    '/sso/logout',
    {
      config: { ...open, fromOwnPages: true, rate: rates.ssoCallback, failures: [], takesForm: true },
      schema: {
        operationId: 'sso.logout',
        summary: 'End the session of a browser, from the page alone',
        description:
          'A browser is sent to the provider, where that publishes a place to sign out, or to `return_to`. Programs end sessions by `DELETE /v1/sso/sessions/:id`.',
        querystring: LogoutQuery,
        body: NoFields,
        response: { 200: SsoLogout },
      },
    },
    async (request, reply) => {
      const { return_to: returnTo } = request.query;
      const cookie = cookiesIn(request.headers)[session];
      const { goesTo, ...answer } = await signOut(deps, { requestId: request.id, cookie, returnTo });
      const gone = { name: session, value: '', path: '/', httpOnly: true, secure: isSecure, maxAge: 0 };
      reply.headers({ 'cache-control': 'no-store', 'set-cookie': stringifySetCookie(gone) });
      if (!asksForPage(request)) return reply.send(answer);
      return goesTo === null ? sendPage(reply, texts.signedOut) : sendOnward(reply, goesTo);
    },
  );

  app.get(
    '/sso/saml/:connectionId/metadata',
    {
      config: { access: 'none', rate: 'default', isPublic: true, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'sso.metadata',
        summary: 'The metadata of the service as a SAML service provider',
        params: MetadataPath,
        response: { 200: Type.String() },
      },
    },
    async (request, reply) => {
      const xml = await metadataOf(deps, request.params.connectionId);
      return reply.header('content-type', 'application/samlmetadata+xml').send(xml);
    },
  );
};

/** The ways in which a login can be refused. */
export const LOGIN_FAILURES = [
  'SSO_AUTH_FAILED',
  'SSO_DOMAIN_NOT_ALLOWED',
  'SSO_USER_INACTIVE',
  'SSO_NOT_PROVISIONED',
  'NOT_FOUND',
  'SSO_ACCOUNT_CONFLICT',
  'PLAN_LIMIT_EXCEEDED',
  'SSO_ERROR',
] as const;

/** The two ends of a login in a browser: who brings the answer, and what the browser gets for it. */
export function endsOfLogin({ publicBaseUrl }: Pick<SsoDeps, 'publicBaseUrl'>) {
  const { session, isSecure } = cookieNames(publicBaseUrl);

  const bringer = (request: FastifyRequest): SignInClient => ({
    requestId: request.id,
    address: request.ip,
    secrets: loginSecretsIn(cookiesIn(request.headers), publicBaseUrl),
  });

  /** A browser gets the session as a cookie, which no script reads. A program gets the session's facts. */
  const signedIn = (reply: FastifyReply, { signedIn: facts, secret, isBrowser, browserHash }: Ended) => {
    reply.header('cache-control', 'no-store');
    if (isBrowser) {
      const { developerId, sessionId: id } = facts;
      const value = sessionCookie({ developerId, id, secret });
      const common = { path: '/', httpOnly: true, secure: isSecure } as const;
      reply.header('set-cookie', stringifySetCookie({ name: session, value, ...common, sameSite: 'lax' }));
      const cookies = cookiesIn(reply.request.headers);
      for (const line of endedLoginLines(cookies, publicBaseUrl, browserHash))
        reply.header('set-cookie', line);
    }
    return reply;
  };

  const ended = (reply: FastifyReply, outcome: Ended) => {
    const { returnTo, signedIn: facts } = outcome;
    return returnTo === null
      ? signedIn(reply, outcome).send(facts)
      : signedIn(reply, outcome).redirect(returnTo, 302);
  };

  /** The end of a login by a form of ours, whose redirects `form-action` would bind to our own origin. */
  const endedByForm = (request: FastifyRequest, reply: FastifyReply, outcome: Ended) =>
    outcome.returnTo === null || !asksForPage(request)
      ? ended(reply, outcome)
      : sendOnward(signedIn(reply, outcome), outcome.returnTo);

  return { bringer, ended, endedByForm };
}
