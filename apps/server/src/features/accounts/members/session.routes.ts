import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { callerOf, cookiesIn, operatorOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { generalRates, rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { approverRates as rates } from '../../calls/approvers/index.ts';
import { cookieNames } from '../../people/sso/index.ts';
import {
  AccountPath,
  ConsoleLink,
  ConsoleSession,
  NewConsoleLink,
  OpenConsoleLink,
  RecoverByCode,
  SignInByKey,
  SignOnQuery,
} from './members.schema.ts';
import { beginConsoleRecovery, recoverByCode } from './recover.ts';
import {
  type ConsoleBrowser,
  endedCookie,
  endSession,
  type MemberDeps,
  sessionCookieIn,
  showSession,
} from './session.ts';
import { createLink, openByLink, signInByKey } from './sign-in.ts';
import { beginSignOn, signOn } from './sign-on.ts';

export const recoveryRates = rateRules({
  consoleRecovery: {
    perHour: 5,
    describes: '`POST /v1/console/session/recover`, by client address, in addition',
    counts: [{ by: 'address' }],
  },
});

const MAX_USER_AGENT = 512; // characters

/** The browser of a request that opens a session. */
export const browserOf = (
  deps: Pick<MemberDeps, 'publicBaseUrl'>,
  { headers, ip }: FastifyRequest,
): ConsoleBrowser => ({
  former: sessionCookieIn(deps, cookiesIn(headers)),
  ip,
  userAgent: headers['user-agent']?.slice(0, MAX_USER_AGENT) ?? null,
});

const signedIn = { access: 'console', rate: generalRates.console } as const;
const withKey = {
  access: 'developer',
  capability: 'never',
  role: 'full',
  rate: rates.consoleSignIn,
} as const;

export const consoleSessionRoutes: FastifyPluginAsyncTypebox<MemberDeps> = async (app, deps) => {
  app.post(
    '/v1/console/session/key',
    {
      config: { ...withKey, fromOwnPages: true, failures: ['CONFLICT'] },
      schema: {
        operationId: 'console.signInByKey',
        summary: 'Open the console with an API key, as its first owner',
        description:
          'Only while a live account has no member. A sandbox account takes its key each time. The session ends with the key.',
        body: SignInByKey,
        response: { 200: ConsoleSession },
      },
    },
    async (request, reply) => {
      const { opened, cookie } = await signInByKey(
        depsFor(request, deps),
        callerOf(request),
        request.body,
        browserOf(deps, request),
      );
      return reply.header('set-cookie', cookie).send(opened);
    },
  );

  app.post(
    '/v1/console/session/links',
    {
      config: { ...withKey, failures: [] },
      schema: {
        operationId: 'console.createLink',
        summary: 'Make a link that opens the console once',
        description:
          'It works for ten minutes, where the key itself would. Without an address it signs in the first owner.',
        body: NewConsoleLink,
        response: { 201: ConsoleLink },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createLink(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.post(
    '/v1/console/session/link',
    {
      config: {
        ...{ access: 'none', fromOwnPages: true, onOwnHost: true, rate: rates.consoleSignIn },
        failures: ['NOT_FOUND', 'CONFLICT', 'FORBIDDEN'],
      },
      schema: {
        operationId: 'console.openLink',
        summary: 'Open the console by a link',
        body: OpenConsoleLink,
        response: { 200: ConsoleSession },
      },
    },
    async (request, reply) => {
      const browser = { ...browserOf(deps, request), requestId: request.id };
      const { opened, cookie } = await openByLink(deps, request.body.link, browser);
      return reply.header('set-cookie', cookie).send(opened);
    },
  );

  app.get(
    '/v1/console/session/sso',
    {
      config: {
        ...{ access: 'none', onOwnHost: true, errors: 'page', rate: rates.consoleSignIn },
        failures: ['NOT_FOUND', 'SSO_DOMAIN_REQUIRED'],
      },
      schema: {
        operationId: 'console.beginSignOn',
        summary: 'Send a browser to the identity provider of its organisation, and then to the console',
        description:
          'By a verified domain of a connection with `consoleAccess`, or by the id of an account that has one.',
        querystring: SignOnQuery,
        response: { 302: Type.Null() },
      },
    },
    async (request, reply) =>
      reply.header('cache-control', 'no-store').redirect(await beginSignOn(deps, request.query), 302),
  );

  app.post(
    '/v1/console/session/sso',
    {
      config: {
        ...{ access: 'none', fromOwnPages: true, onOwnHost: true, rate: rates.consoleSignIn },
        failures: ['UNAUTHORIZED', 'FORBIDDEN', 'SSO_NOT_PROVISIONED', 'CONFLICT'],
      },
      schema: {
        operationId: 'console.signOn',
        summary: 'Open the console by a sign-in at an identity provider in the last ten minutes',
        description:
          'The groups of that sign-in decide on the role, each time. The session ends with the one at the provider.',
        body: NoFields,
        response: { 200: ConsoleSession },
      },
    },
    async (request, reply) => {
      const browser = { ...browserOf(deps, request), requestId: request.id };
      const held = cookiesIn(request.headers)[cookieNames(deps.publicBaseUrl).session];
      const { opened, cookie } = await signOn(deps, held, browser);
      return reply.header('set-cookie', cookie).send(opened);
    },
  );

  app.post(
    '/v1/console/session/recover',
    {
      config: {
        ...{ access: 'none', fromOwnPages: true, onOwnHost: true },
        rate: [rates.consoleSignIn, recoveryRates.consoleRecovery],
        failures: ['UNAUTHORIZED'],
      },
      schema: {
        operationId: 'console.recover',
        summary: 'Open the console by a recovery code, to register a passkey',
        description:
          'Each code works once. Until the member registers another passkey, the session can do nothing else. Existing passkeys stay. All owners are told.',
        body: RecoverByCode,
        response: { 200: ConsoleSession },
      },
    },
    async (request, reply) => {
      const browser = { ...browserOf(deps, request), requestId: request.id };
      const { opened, cookie } = await recoverByCode(deps, request.body, browser);
      return reply.header('set-cookie', cookie).send(opened);
    },
  );

  app.post(
    '/v1/admin/developers/:id/console-recovery',
    {
      config: { access: 'operator', rate: generalRates.admin, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'members.recover',
        summary: 'Make a link that lets a person into the console of an account as an owner',
        description:
          'It works once, for an hour, and opens nothing before the person has a passkey. An owner with the address gets a passkey in place of theirs. For an hour after the link was opened, no other member can change or remove the person. The account and its owners are told.',
        params: AccountPath,
        body: SignInByKey,
        response: { 201: ConsoleLink },
      },
    },
    async (request, reply) => {
      const tenant = { developerId: request.params.id };
      const link = await beginConsoleRecovery(deps, operatorOf(request), tenant, request.body);
      return reply.code(201).send(link);
    },
  );

  app.get(
    '/v1/console/session',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'console.session',
        summary: 'Read the session of this browser',
        response: { 200: ConsoleSession },
      },
    },
    (request) => showSession(deps, callerOf(request), sessionCookieIn(deps, cookiesIn(request.headers))),
  );

  app.delete(
    '/v1/console/session',
    {
      config: { ...signedIn, failures: [] },
      schema: {
        operationId: 'console.signOut',
        summary: 'End the session of this browser',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await endSession(deps, callerOf(request));
      return reply
        .headers({ 'set-cookie': endedCookie(deps), 'clear-site-data': '"cache", "storage"' })
        .code(204)
        .send(null);
    },
  );
};
