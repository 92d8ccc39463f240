import { stringifySetCookie } from 'cookie';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { asksForPage, sendOnward } from '../../../platform/http/answers/plain-page.ts';
import { cookiesIn } from '../../../platform/http/callers/credentials.ts';
import type { Bringer, Ended } from './callback.ts';
import { cookieNames, endedLoginLines, loginSecretsIn, sessionCookie } from './cookies.ts';
import type { SsoDeps } from './deps.ts';

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

  const bringer = (request: FastifyRequest): Bringer => ({
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
