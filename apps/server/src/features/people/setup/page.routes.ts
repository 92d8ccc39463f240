import { join } from 'node:path';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { addPage } from '../../../platform/http/routes/pages.ts';
import { finishSetup, openLink, readSetup } from './session.ts';
import { rates } from './setup.rates.ts';
import {
  NewSetupProvider,
  SetupSession,
  OpenedSetupLink,
  OpenSetupLink,
  SetupProviderTest,
  Setup,
  SetupScimToken,
} from './setup.schema.ts';
import { makeToken, type SetupDeps, setProvider, tryProvider } from './steps.ts';

const ofPage = { access: 'none', fromOwnPages: true, rate: rates.setup } as const;

/** The secret of a link and of its session come in bodies, which no log holds. */
export const setupPageRoutes: FastifyPluginAsyncTypebox<SetupDeps> = async (app, deps) => {
  addPage(app, {
    name: 'setup',
    feature: 'setup',
    summary: 'The page on which a customer’s administrator sets up single sign-on and provisioning',
    folder: join(import.meta.dirname, 'page'),
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
        response: { 200: Setup },
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
        response: { 200: Setup },
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
