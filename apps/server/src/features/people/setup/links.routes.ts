import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { createLink, type LinkDeps, listLinks, revokeLink } from './links.ts';
import { rates } from './setup.rates.ts';
import { CreatedSetupLink, NewSetupLink, SetupLinkPage, SetupLinkPath, SetupLinkQuery } from './setup.schema.ts';

const own = { access: 'developer', role: 'full', rate: rates.setupLinkWrite } as const;

export const setupLinkRoutes: FastifyPluginAsyncTypebox<LinkDeps> = async (app, deps) => {
  app.post(
    '/v1/sso/setup-links',
    {
      config: { ...own, failures: ['NOT_FOUND', 'CONFLICT'] },
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
      config: { ...own, rate: 'default', failures: [] },
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
      config: { ...own, failures: ['NOT_FOUND'] },
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
