import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { addConnection, changeConnection, deleteConnection } from './connections.ts';
import type { SsoDeps } from './deps.ts';
import { setEnforcement } from './enforce.ts';
import { listIdentities, moveIdentity } from './identities.ts';
import { deleteConfig, getConfig, putConfig } from './legacy.ts';
import { listSessions, revokeSession } from './sessions.ts';
import { getConnection, listConnections } from './show.ts';
import { rates } from './sso.rates.ts';
import {
  LegacySsoConfig,
  LegacySsoConfigInput,
  NewSsoConnection,
  SamlMetadata,
  SamlMetadataSource,
  SsoConnection,
  SsoConnectionChange,
  SsoConnectionPage,
  SsoConnectionPath,
  SsoConnectionQuery,
  SsoEnforcement,
  SsoEnforcementChange,
  SsoIdentities,
  SsoIdentity,
  SsoIdentityMove,
  SsoIdentityQuery,
  SsoSessionPage,
  SsoSessionQuery,
  SsoTest,
} from './sso.schema.ts';
import { readMetadata, testConnection } from './try.ts';

const own = { access: 'developer', role: 'full', rate: 'default' } as const;

/** No route of these answers a secret. */
export const ssoConnectionRoutes: FastifyPluginAsyncTypebox<SsoDeps> = async (app, deps) => {
  app.post(
    '/v1/sso/connections',
    {
      config: {
        ...own,
        capability: 'configure',
        stepUp: true,
        failures: ['CONFLICT', 'PLAN_LIMIT_EXCEEDED', 'NOT_CONFIGURED'],
      },
      schema: {
        operationId: 'sso.addConnection',
        summary: 'Add an identity provider at which people sign in',
        body: NewSsoConnection,
        response: { 201: SsoConnection },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await addConnection(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/sso/connections',
    {
      config: { ...own, capability: 'read', failures: [] },
      schema: {
        operationId: 'sso.listConnections',
        summary: 'List connections, oldest first',
        querystring: SsoConnectionQuery,
        response: { 200: SsoConnectionPage },
      },
    },
    (request) => listConnections(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/sso/connections/:id',
    {
      config: { ...own, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'sso.getConnection',
        summary: 'Read a connection without its secrets',
        params: SsoConnectionPath,
        response: { 200: SsoConnection },
      },
    },
    (request) => getConnection(deps, callerOf(request), request.params.id),
  );

  app.patch(
    '/v1/sso/connections/:id',
    {
      config: {
        ...own,
        capability: 'configure',
        stepUp: true,
        failures: ['NOT_FOUND', 'CONFLICT', 'NOT_CONFIGURED'],
      },
      schema: {
        operationId: 'sso.changeConnection',
        summary: 'Change a connection',
        description:
          'Members that the body leaves out stay, and `null` clears an optional one. Another provider, or another status than `active`, ends the sessions of the connection.',
        params: SsoConnectionPath,
        body: SsoConnectionChange,
        response: { 200: SsoConnection },
      },
    },
    (request) => changeConnection(depsFor(request, deps), callerOf(request), request.params.id, request.body),
  );

  app.delete(
    '/v1/sso/connections/:id',
    {
      config: { ...own, capability: 'configure', stepUp: true, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'sso.deleteConnection',
        summary: 'Delete a connection, and end its sessions',
        params: SsoConnectionPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteConnection(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );

  app.post(
    '/v1/sso/connections/:id/test',
    {
      config: { ...own, capability: 'configure', rate: rates.ssoTest, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'sso.testConnection',
        summary: 'Try a connection',
        description:
          'A failure is 200 too, with `success: false`. `error` is its category, and `message` says what to do.',
        params: SsoConnectionPath,
        body: NoFields,
        response: { 200: SsoTest },
      },
    },
    (request) => testConnection(depsFor(request, deps), callerOf(request), request.params.id),
  );

  app.post(
    '/v1/sso/metadata',
    {
      bodyLimit: 2 * deps.metadataLimit, // JSON escapes the quotation marks of metadata
      config: { ...own, capability: 'configure', rate: rates.ssoTest, failures: [] },
      schema: {
        operationId: 'sso.readMetadata',
        summary: 'Read the SAML metadata of an identity provider, and keep nothing',
        description:
          'The answer has the members that a connection by SAML takes. A 400 says which part of the metadata is missing or cannot be used.',
        body: SamlMetadataSource,
        response: { 200: SamlMetadata },
      },
    },
    (request) => readMetadata(deps, request.body),
  );

  app.get(
    '/v1/sso/connections/:id/identities',
    {
      config: { ...own, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'sso.listIdentities',
        summary: 'List the subjects by which the provider of a connection knows a person',
        params: SsoConnectionPath,
        querystring: SsoIdentityQuery,
        response: { 200: SsoIdentities },
      },
    },
    (request) => listIdentities(deps, callerOf(request), request.params.id, request.query),
  );

  app.put(
    '/v1/sso/connections/:id/identities',
    {
      config: { ...own, capability: 'configure', stepUp: true, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'sso.moveIdentity',
        summary: 'Link a person to another subject of the provider',
        description:
          'A sign-in never does this: a second subject with the address of a person who is linked is refused, and the audit entry `sso.login_failed` with the reason `other_subject` names it. The subject before, and whoever had this one, lose the link. Their sessions at the connection end.',
        params: SsoConnectionPath,
        body: SsoIdentityMove,
        response: { 200: SsoIdentity },
      },
    },
    (request) => moveIdentity(deps, callerOf(request), request.params.id, request.body),
  );

  app.post(
    '/v1/sso/enforce',
    {
      config: { ...own, capability: 'govern', failures: ['CONFLICT'] },
      schema: {
        operationId: 'sso.enforce',
        summary: 'Enforce single sign-on, or stop enforcing it',
        body: SsoEnforcementChange,
        response: { 200: SsoEnforcement },
      },
    },
    (request) => setEnforcement(depsFor(request, deps), callerOf(request), request.body.enforce),
  );

  app.post(
    '/v1/sso/config',
    {
      config: {
        ...own,
        capability: 'configure',
        stepUp: true,
        failures: ['CONFLICT', 'PLAN_LIMIT_EXCEEDED', 'NOT_CONFIGURED'],
      },
      schema: {
        operationId: 'sso.putConfig',
        summary: 'Write the single configuration that older clients know',
        description: 'It is the connection named `default`. New clients use connections.',
        body: LegacySsoConfigInput,
        response: { 201: LegacySsoConfig },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await putConfig(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/sso/config',
    {
      config: { ...own, capability: 'read', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'sso.getConfig',
        summary: 'Read the single configuration',
        response: { 200: LegacySsoConfig },
      },
    },
    (request) => getConfig(deps, callerOf(request)),
  );

  app.delete(
    '/v1/sso/config',
    {
      config: { ...own, capability: 'configure', stepUp: true, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'sso.deleteConfig',
        summary: 'Delete the single configuration',
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteConfig(deps, callerOf(request));
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/sso/sessions',
    {
      config: { ...own, capability: 'read', failures: [] },
      schema: {
        operationId: 'sso.listSessions',
        summary: 'List live sessions, newest first',
        querystring: SsoSessionQuery,
        response: { 200: SsoSessionPage },
      },
    },
    (request) => listSessions(deps, callerOf(request), request.query),
  );

  app.delete(
    '/v1/sso/sessions/:id',
    {
      config: { ...own, capability: 'operate', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'sso.revokeSession',
        summary: 'End a session',
        params: SsoConnectionPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await revokeSession(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
