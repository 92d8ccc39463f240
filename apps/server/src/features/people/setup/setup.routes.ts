import { join } from 'node:path';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { createLink, type LinkDeps, listLinks, revokeLink } from './links.ts';
import { finishSetup, openLink, readSetup } from './session.ts';
import {
  CreatedSetupLink,
  NewSetupLink,
  NewSetupProvider,
  OpenedSetupLink,
  OpenSetupLink,
  SetupLinkPage,
  SetupLinkPath,
  SetupLinkQuery,
  SetupProviderTest,
  SetupScimToken,
  SetupSession,
  SetupState,
} from './setup.schema.ts';
import { makeToken, type SetupDeps, setProvider, tryProvider } from './steps.ts';

export const rates = rateRules({
  setupLinkWrite: {
    perMinute: 30,
    describes: 'making and revoking setup links, by developer',
    counts: [{ by: 'developer' }],
  },
  setup: {
    perMinute: 30,
    describes: 'calls of the setup page, by client address',
    counts: [{ by: 'address' }],
  },
});

const ofPage = { access: 'none', fromOwnPages: true, rate: rates.setup } as const;

/** The secret of a link and of its session come in bodies, which no log holds. */
export const setupPageRoutes: FastifyPluginAsyncTypebox<SetupDeps> = async (app, deps) => {
  addPage(app, {
    name: 'setup',
    feature: 'setup',
    summary: 'The page on which a customer’s administrator sets up single sign-on and provisioning',
    folder: join(import.meta.dirname, 'page'),
    isTranslated: true,
  });

  app.post(
    '/setup/open',
    {
      config: { ...ofPage, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'setup.open',
        summary: 'Open a setup link, once',
        body: OpenSetupLink,
        response: { 200: OpenedSetupLink },
      },
    },
    (request) => openLink(deps, request.body.link, request.id),
  );

  app.post(
    '/setup/read',
    {
      config: { ...ofPage, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'setup.read',
        summary: 'Read a setup',
        body: SetupSession,
        response: { 200: SetupState },
      },
    },
    (request) => readSetup(deps, request.body.session, request.id),
  );

  app.post(
    '/setup/provider',
    {
      bodyLimit: 2 * deps.metadataLimit, // JSON escapes the quotation marks of metadata
      config: { ...ofPage, failures: ['NOT_FOUND', 'CONFLICT', 'PLAN_LIMIT_EXCEEDED', 'NOT_CONFIGURED'] },
      schema: {
        operationId: 'setup.setProvider',
        summary: 'Enter the identity provider of a setup',
        body: NewSetupProvider,
        response: { 200: SetupState },
      },
    },
    (request) => setProvider(deps, request.body, request.id),
  );

  app.post(
    '/setup/test',
    {
      config: { ...ofPage, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'setup.tryProvider',
        summary: 'Try the identity provider of a setup',
        body: SetupSession,
        response: { 200: SetupProviderTest },
      },
    },
    (request) => tryProvider(deps, request.body.session, request.id),
  );

  app.post(
    '/setup/token',
    {
      config: { ...ofPage, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'setup.makeToken',
        summary: 'Make a SCIM token for a setup',
        body: SetupSession,
        response: { 200: SetupScimToken },
      },
    },
    (request) => makeToken(deps, request.body.session, request.id),
  );

  app.post(
    '/setup/finish',
    {
      config: { ...ofPage, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'setup.finish',
        summary: 'End a setup',
        body: SetupSession,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await finishSetup(deps, request.body.session, request.id);
      return reply.code(204).send(null);
    },
  );
};

const own = { access: 'developer', role: 'full', rate: rates.setupLinkWrite } as const;

export const setupLinkRoutes: FastifyPluginAsyncTypebox<LinkDeps> = async (app, deps) => {
  app.post(
    '/v1/sso/setup-links',
    {
      config: { ...own, capability: 'configure', stepUp: true, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'setup.createLink',
        summary: 'Make a link by which a customer’s administrator sets up single sign-on or provisioning',
        description:
          'The link opens once and lasts `expiresIn` seconds, a week unless the body says otherwise. With `connectionId` it changes that connection; without, it makes one. The connection is on trial after each change until you activate it, which ends the session of the link. A SCIM token reads and writes the people of the whole account, so a link for `scim` needs `acknowledge`. An account has up to 100 links that have not ended.',
        body: NewSetupLink,
        response: { 201: CreatedSetupLink },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await createLink(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/sso/setup-links',
    {
      config: { ...own, capability: 'read', rate: 'default', failures: [] },
      schema: {
        operationId: 'setup.listLinks',
        summary: 'List setup links, newest first',
        description: 'A link is listed until 30 days after its end.',
        querystring: SetupLinkQuery,
        response: { 200: SetupLinkPage },
      },
    },
    (request) => listLinks(deps, callerOf(request), request.query),
  );

  app.delete(
    '/v1/sso/setup-links/:id',
    {
      config: { ...own, capability: 'configure', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'setup.revokeLink',
        summary: 'Revoke a setup link, opened or not',
        params: SetupLinkPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await revokeLink(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
