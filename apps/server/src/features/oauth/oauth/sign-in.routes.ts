import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { cookiesIn } from '../../../platform/http/callers/credentials.ts';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { newSecret } from '../../../platform/ids.ts';
import type { AuthorizeDeps } from './authorize.ts';
import { rates } from './oauth.rates.ts';
import { browserOf } from './oauth.routes.ts';
import {
  BrowserRedirect,
  PasskeySignIn,
  PasskeySignInOptions,
  PasskeySignInRequest,
  WaitingBrand,
} from './oauth.schema.ts';
import { beginSignIn, brandOfSignIn, finishSignIn } from './sign-in.ts';

const onPage = { access: 'none', fromOwnPages: true, onOwnHost: true, rate: rates.oauthSignIn } as const;

/** The page on which a person shows a passkey, where the service does not know yet whom a request is about. */
export const signInRoutes: FastifyPluginAsyncTypebox<AuthorizeDeps> = async (app, deps) => {
  const idOf = browserCookie(deps, { name: 'bh_sign_in', seconds: 600 });
  const signingBrowser = (request: FastifyRequest, reply: FastifyReply) => ({
    ...browserOf(request),
    browserId: idOf(request, reply),
  });

  addPage(app, {
    name: 'sign-in',
    feature: 'oauth.signIn',
    summary: 'The page on which a person shows a passkey for an authorization request',
    folder: `${import.meta.dirname}/page`,
    onOwnHost: true,
    isTranslated: true,
  });

  app.post(
    '/v1/oauth/sign-ins/brand',
    {
      config: { ...onPage, failures: ['BAD_REQUEST', 'CONFLICT'] },
      schema: {
        operationId: 'oauth.signInBrand',
        summary: 'Show whose request waits for a passkey',
        body: PasskeySignInRequest,
        response: { 200: WaitingBrand },
      },
    },
    (request) => brandOfSignIn(deps, request.body, browserOf(request)),
  );

  app.post(
    '/v1/oauth/sign-ins/options',
    {
      config: { ...onPage, failures: ['BAD_REQUEST', 'CONFLICT'] },
      schema: {
        operationId: 'oauth.signInOptions',
        summary: 'Ask for a passkey of the person whom an authorization request is about',
        description: 'The options are the same for everybody: the person chooses the passkey.',
        body: PasskeySignInRequest,
        response: { 200: PasskeySignInOptions },
      },
    },
    (request, reply) => beginSignIn(deps, request.body, signingBrowser(request, reply)),
  );

  app.post(
    '/v1/oauth/sign-ins/verify',
    {
      config: {
        ...onPage,
        failures: [
          'BAD_REQUEST',
          'CONFLICT',
          'CHALLENGE_INVALID',
          'WEBAUTHN_VERIFICATION_FAILED',
          'WEBAUTHN_CLONE_SUSPECTED',
        ],
      },
      schema: {
        operationId: 'oauth.signIn',
        summary: 'Go on with an authorization request whose person has shown a passkey',
        body: PasskeySignIn,
        response: { 200: BrowserRedirect },
      },
    },
    (request, reply) => finishSignIn(deps, request.body, signingBrowser(request, reply)),
  );
};

interface CookieOptions {
  /** Without the prefix that binds it to this host. */
  readonly name: string;
  readonly seconds: number;
}

/** Makes a function that identifies a browser by a secret cookie, and sets one where there is none. */
export function browserCookie(
  { publicBaseUrl }: { readonly publicBaseUrl: string },
  { name, seconds }: CookieOptions,
): (request: FastifyRequest, reply: FastifyReply) => string {
  const isSecure = publicBaseUrl.startsWith('https:');
  const fullName = `${isSecure ? '__Host-' : ''}${name}`;
  return ({ headers }, reply) => {
    const known = cookiesIn(headers)[fullName];
    if (known !== undefined) return known;
    const browserId = newSecret();
    const attributes = { path: '/', httpOnly: true, sameSite: 'lax', secure: isSecure } as const;
    const cookie = { name: fullName, value: browserId, maxAge: seconds, ...attributes };
    reply.header('set-cookie', stringifySetCookie(cookie));
    return browserId;
  };
}
