import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf, cookiesIn, sessionOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { cookieNames } from '../sso/index.ts';
import { removeAddress, removeOwnAddress, showOwnAddress } from './addresses.ts';
import { listOwnEntries, listOwnGrants } from './list.ts';
import {
  AddressPath,
  CreatedPrincipalSession,
  NewPrincipalSession,
  OwnAddress,
  OwnEntryPage,
  OwnEntryQuery,
  OwnGrantPage,
  OwnGrantPath,
  OwnGrantQuery,
  RevokedGrants,
  SentSignInLink,
  SignInLink,
  SignInLinkRequest,
} from './principals.schema.ts';
import { revokeOwnGrant, revokeOwnGrants } from './revoke.ts';
import { createSession, endPrincipalSession } from './session.ts';
import { mailRates, readerCookieName, type SignInDeps, sendSignInLink, useSignInLink } from './sign-in.ts';

const ownRates = rateRules({
  principalSession: {
    perMinute: 10,
    describes: 'making principal sessions, by developer',
    counts: [{ by: 'developer' }],
  },
  principalAudit: {
    perMinute: 30,
    describes: '`GET /v1/principal/audit`, by principal session',
    counts: [{ by: 'session' }],
  },
  principalSignIn: {
    perMinute: 20,
    describes: 'signing in to the page of the own permissions, by client address',
    counts: [{ by: 'address' }],
  },
});
export const rates = { ...ownRates, ...mailRates };

/** A person without a session, on a page of the service. */
export const byStranger = { access: 'none', fromOwnPages: true, rate: ownRates.principalSignIn } as const;

export const principalRoutes: FastifyPluginAsyncTypebox<SignInDeps> = async (app, deps) => {
  addPage(app, {
    name: 'permissions',
    feature: 'principals',
    summary: 'The page on which a person sees and ends grants to agents',
    folder: `${import.meta.dirname}/page`,
    isTranslated: true,
  });

  app.post(
    '/v1/principal-sessions',
    {
      config: {
        access: 'developer',
        capability: 'never',
        role: 'full',
        rate: rates.principalSession,
        failures: ['SSO_REQUIRED', 'NOT_FOUND'],
      },
      schema: {
        operationId: 'principals.openSession',
        summary: 'Open a session in which a principal sees and ends grants to agents',
        body: NewPrincipalSession,
        response: { 201: CreatedPrincipalSession },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createSession(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.post(
    '/v1/principal/sign-in/mail',
    {
      config: {
        ...byStranger,
        rate: [ownRates.principalSignIn, mailRates.principalMail],
        failures: ['NOT_CONFIGURED'],
      },
      schema: {
        operationId: 'principals.sendLink',
        summary: 'Mail a link to the page of the own permissions, if somebody has proved the address',
        body: SignInLinkRequest,
        response: { 202: SentSignInLink },
      },
    },
    async (request, reply) => {
      const { email, link } = request.body;
      const cookie = cookiesIn(request.headers)[readerCookieName(deps)];
      const languages = request.headers['accept-language'];
      return reply.code(202).send(await sendSignInLink(deps, email, { link, cookie, languages }));
    },
  );

  app.post(
    '/v1/principal/sign-in/link',
    {
      config: {
        ...byStranger,
        failures: ['TOKEN_EXPIRED', 'UNAUTHORIZED', 'PRINCIPAL_INACTIVE', 'SSO_REQUIRED'],
      },
      schema: {
        operationId: 'principals.useLink',
        summary: 'Open the page of the own permissions with a mailed link, once',
        body: SignInLink,
        response: { 201: CreatedPrincipalSession },
      },
    },
    async (request, reply) => {
      const signOn = cookiesIn(request.headers)[cookieNames(deps.publicBaseUrl).session];
      const browser = { requestId: request.id, signOn };
      const { opened, cookie } = await useSignInLink(deps, request.body.token, browser);
      return reply.header('set-cookie', cookie).code(201).send(opened);
    },
  );

  app.get(
    '/v1/principal/grants',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'principals.grants',
        summary: "List the principal's grants, newest first",
        querystring: OwnGrantQuery,
        response: { 200: OwnGrantPage },
      },
    },
    (request) => {
      const languages = request.headers['accept-language'];
      return listOwnGrants(deps, sessionOf(request), { ...request.query, languages });
    },
  );

  app.delete(
    '/v1/principal/grants',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'principals.revokeAll',
        summary: "Revoke all of the principal's active grants, all or none",
        response: { 200: RevokedGrants },
      },
    },
    (request) => revokeOwnGrants(deps, sessionOf(request)),
  );

  app.delete(
    '/v1/principal/grants/:id',
    {
      config: { access: 'session', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'principals.revoke',
        summary: "Revoke one of the principal's grants, its tokens and all grants delegated from it",
        params: OwnGrantPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await revokeOwnGrant(deps, sessionOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/principal/audit',
    {
      config: { access: 'session', rate: rates.principalAudit, failures: [], isHeavy: true },
      schema: {
        operationId: 'principals.audit',
        summary: 'List the audit entries about the principal, newest first',
        querystring: OwnEntryQuery,
        response: { 200: OwnEntryPage },
      },
    },
    async (request, reply) => {
      const text = await listOwnEntries(deps, sessionOf(request), request.query);
      return reply.type('application/json; charset=utf-8').send(text);
    },
  );

  app.get(
    '/v1/principal/address',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'principals.address',
        summary:
          'Tell whether a link to the page of the own permissions is mailed to an address of the principal',
        response: { 200: OwnAddress },
      },
    },
    (request) => showOwnAddress(deps, sessionOf(request)),
  );

  app.delete(
    '/v1/principal/address',
    {
      config: { access: 'session', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'principals.removeOwnAddress',
        summary: "Forget the principal's proved address, and end the other sessions",
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeOwnAddress(deps, sessionOf(request));
      return reply.code(204).send(null);
    },
  );

  app.delete(
    '/v1/principal-addresses/:id',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'principals.removeAddress',
        summary: 'Forget the proved address of a principal, and end the sessions of the principal',
        params: AddressPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await removeAddress(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.delete(
    '/v1/principal/session',
    {
      config: { access: 'session', rate: 'default', failures: [] },
      schema: {
        operationId: 'principals.endSession',
        summary: 'End the session',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await endPrincipalSession(deps, sessionOf(request));
      return reply.code(204).send(null);
    },
  );
};
