import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import type { Rate } from '../../../platform/http/limits/rate-rules.ts';
import {
  deleteProfile,
  getProfile,
  listCalls,
  listProfiles,
  type ProfileDeps,
  putProfile,
} from './profile.ts';
import {
  NewProxyProfile,
  PassedQuery,
  ProfilePath,
  ProfileQuery,
  ProxyCallPage,
  ProxyProfile,
  ProxyProfilePage,
} from './proxy.schema.ts';

interface ProfileRouteDeps extends ProfileDeps {
  /** Changes of profiles count like those of credentials. */
  readonly writeRate: Rate;
}

const LARGEST_BODY = 131_072; // bytes: a hundred rules

export const profileRoutes: FastifyPluginAsyncTypebox<ProfileRouteDeps> = async (app, deps) => {
  app.put(
    '/v1/vault/proxy-profiles/:service',
    {
      bodyLimit: LARGEST_BODY,
      config: {
        access: 'developer',
        capability: 'configure',
        stepUp: true,
        role: 'full',
        rate: deps.writeRate,
        failures: ['NOT_FOUND', 'PLAN_LIMIT_EXCEEDED'],
      },
      schema: {
        operationId: 'vault.putProxyProfile',
        summary: 'Say how agents reach the upstream of a service through the vault proxy',
        description:
          'Replaces the profile, and counts its version. Credentials that are stored already go only to origins that the profile had when they were stored. The service of the path is that of credentials.',
        params: ProfilePath,
        body: NewProxyProfile,
        response: { 200: ProxyProfile },
      },
    },
    (request) => putProfile(deps, callerOf(request), request.params.service, request.body),
  );

  app.get(
    '/v1/vault/proxy-profiles',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: 'default',
        failures: [],
      },
      schema: {
        operationId: 'vault.listProxyProfiles',
        summary: 'List proxy profiles, by service',
        querystring: ProfileQuery,
        response: { 200: ProxyProfilePage },
      },
    },
    (request) => listProfiles(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/vault/proxy-profiles/:service',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'vault.getProxyProfile',
        summary: 'Read a proxy profile',
        params: ProfilePath,
        response: { 200: ProxyProfile },
      },
    },
    (request) => getProfile(deps, callerOf(request), request.params.service),
  );

  app.delete(
    '/v1/vault/proxy-profiles/:service',
    {
      config: {
        access: 'developer',
        capability: 'configure',
        stepUp: true,
        role: 'full',
        rate: deps.writeRate,
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'vault.deleteProxyProfile',
        summary: 'Switch the vault proxy of a service off',
        params: ProfilePath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteProfile(deps, callerOf(request), request.params.service);
      return reply.code(204).send(null);
    },
  );

  app.get(
    '/v1/vault/proxy/calls',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: 'default',
        failures: [],
      },
      schema: {
        operationId: 'vault.listProxyCalls',
        summary: 'List calls through the vault proxy and what came of them, newest first',
        description: 'The service keeps them for thirty days. The audit log keeps that a call was made.',
        querystring: PassedQuery,
        response: { 200: ProxyCallPage },
      },
    },
    (request) => listCalls(deps, callerOf(request), request.query),
  );
};
