import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import {
  ConnectorManifest,
  ManifestPage,
  ManifestPath,
  ManifestQuery,
  ManifestVersionPage,
  ManifestVersionQuery,
  ManifestWithWarnings,
  NewManifest,
} from './manifests.schema.ts';
import {
  deleteManifest,
  getManifest,
  listManifests,
  listManifestVersions,
  type ManifestDeps,
  putManifest,
} from './put.ts';

export const manifestRoutes: FastifyPluginAsyncTypebox<ManifestDeps> = async (app, deps) => {
  app.put(
    '/v1/manifests/:connector',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        role: 'full',
        mayLoosen: true,
        rate: 'default',
        failures: ['STEP_UP_REQUIRED', 'CONFLICT', 'INVALID_MANIFEST', 'PLAN_LIMIT_EXCEEDED'],
      },
      schema: {
        operationId: 'manifests.put',
        summary: 'Register the manifest of a connector, or a new version of it',
        params: ManifestPath,
        body: NewManifest,
        response: { 200: ManifestWithWarnings, 201: ManifestWithWarnings },
      },
    },
    async (request, reply) => {
      const { connector } = request.params;
      const { manifest, isFirst } = await putManifest(
        depsFor(request, deps),
        callerOf(request),
        connector,
        request.body,
      );
      return reply.code(isFirst ? 201 : 200).send(manifest);
    },
  );

  app.get(
    '/v1/manifests',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'open',
        rate: 'default',
        failures: [],
      },
      schema: {
        operationId: 'manifests.list',
        summary: 'List manifests, by connector',
        querystring: ManifestQuery,
        response: { 200: ManifestPage },
      },
    },
    (request) => listManifests(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/manifests/:connector',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'open',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'manifests.get',
        summary: 'Read a manifest',
        params: ManifestPath,
        response: { 200: ConnectorManifest },
      },
    },
    (request) => getManifest(deps, callerOf(request), request.params.connector),
  );

  app.get(
    '/v1/manifests/:connector/versions',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'manifests.versions',
        summary: 'List what a manifest was after each change, the newest first',
        description:
          'The last 51 are kept, of at most 4 MiB together. To go back, put the older one again. Those of the 20 connectors that were deleted last stay.',
        params: ManifestPath,
        querystring: ManifestVersionQuery,
        response: { 200: ManifestVersionPage },
      },
    },
    (request) => listManifestVersions(deps, callerOf(request), request.params.connector, request.query),
  );

  app.delete(
    '/v1/manifests/:connector',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        role: 'full',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'manifests.remove',
        summary: 'Remove a manifest, so that calls of its tools are denied',
        params: ManifestPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteManifest(deps, callerOf(request), request.params.connector);
      return reply.code(204).send(null);
    },
  );
};
