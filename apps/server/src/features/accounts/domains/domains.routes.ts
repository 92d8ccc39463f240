import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  CreatedDomain,
  Domain,
  DomainPage,
  DomainPath,
  DomainQuery,
  NewDomain,
  VerifiedDomain,
} from './domains.schema.ts';
import { addDomain, type DomainDeps, deleteDomain, getDomain, listDomains } from './manage.ts';
import { verifyDomain } from './verify.ts';

export const rates = rateRules({
  domainWrite: {
    perMinute: 30,
    describes: 'adding and removing domains, by developer',
    counts: [{ by: 'developer' }],
  },
  domainVerify: {
    perMinute: 10,
    describes: 'verifying domains, by developer',
    counts: [{ by: 'developer' }],
  },
});

const FULL = { access: 'developer', role: 'full' } as const;

export const domainRoutes: FastifyPluginAsyncTypebox<DomainDeps> = async (app, deps) => {
  app.post(
    '/v1/domains',
    {
      config: {
        ...FULL,
        capability: 'configure',
        rate: rates.domainWrite,
        failures: ['CONFLICT', 'PLAN_LIMIT_EXCEEDED'],
      },
      schema: {
        operationId: 'domains.add',
        summary: 'Register a domain',
        body: NewDomain,
        response: { 201: CreatedDomain },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await addDomain(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/domains',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: [] },
      schema: {
        operationId: 'domains.list',
        summary: 'List domains, newest first',
        querystring: DomainQuery,
        response: { 200: DomainPage },
      },
    },
    (request) => listDomains(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/domains/:id',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'domains.get',
        summary: 'Get a domain',
        params: DomainPath,
        response: { 200: Domain },
      },
    },
    (request) => getDomain(deps, callerOf(request), request.params.id),
  );

  app.post(
    '/v1/domains/:id/verify',
    {
      config: {
        ...FULL,
        capability: 'configure',
        rate: rates.domainVerify,
        failures: ['NOT_FOUND', 'VERIFICATION_FAILED', 'DOMAIN_CLAIMED'],
      },
      schema: {
        operationId: 'domains.verify',
        summary: 'Look for the TXT record of a domain',
        params: DomainPath,
        body: NoFields,
        response: { 200: VerifiedDomain },
      },
    },
    (request) => verifyDomain(depsFor(request, deps), callerOf(request), request.params.id),
  );

  app.delete(
    '/v1/domains/:id',
    {
      config: { ...FULL, capability: 'configure', rate: rates.domainWrite, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'domains.delete',
        summary: 'Delete a domain',
        params: DomainPath,
        response: { 204: Type.Null() },
      },
    },
    async (request, reply) => {
      await deleteDomain(deps, callerOf(request), request.params.id);
      return reply.code(204).send(null);
    },
  );
};
