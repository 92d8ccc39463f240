import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { pauseOf } from '../../../platform/http/limits/heavy-reads.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { type AppendDeps, appendEntry } from './append.ts';
import {
  AuditChainHead,
  AuditChainVerification,
  AuditEntry,
  AuditEntryPage,
  EntryPath,
  EntryQuery,
  NewAuditEntry,
  VerifyQuery,
} from './audit.schema.ts';
import { getHead } from './checkpoint.ts';
import { getEntry, listEntries } from './read.ts';
import { type VerifyDeps, verifyOwnChain } from './verify.ts';

export const rates = rateRules({
  auditLog: {
    perMinute: 30,
    describes: '`POST /v1/audit/log`, by developer',
    counts: [{ by: 'developer' }],
  },
  auditVerify: {
    perMinute: 10,
    describes: '`GET /v1/audit/verify`, by developer',
    counts: [{ by: 'developer' }],
  },
});

type AuditDeps = AppendDeps & Omit<VerifyDeps, 'pause'>;

export const auditRoutes: FastifyPluginAsyncTypebox<AuditDeps> = async (app, deps) => {
  app.post(
    '/v1/audit/log',
    {
      config: {
        access: 'developer',
        capability: 'never',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: rates.auditLog,
        failures: ['NOT_FOUND', 'RESERVED_ACTION', 'PLAN_LIMIT_EXCEEDED'],
      },
      schema: {
        operationId: 'audit.append',
        summary: 'Append an entry about an act of an agent',
        body: NewAuditEntry,
        response: { 201: AuditEntry },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await appendEntry(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/audit/entries',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: [],
        isHeavy: true,
      },
      schema: {
        operationId: 'audit.list',
        summary: 'List audit entries in the order of the chain',
        querystring: EntryQuery,
        response: { 200: AuditEntryPage },
      },
    },
    async (request, reply) => {
      const text = await listEntries(deps, callerOf(request), request.query);
      return reply.type('application/json; charset=utf-8').send(text);
    },
  );

  app.get(
    '/v1/audit/head',
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
        operationId: 'audit.head',
        summary: 'Read the head of the chain and its newest checkpoint',
        response: { 200: AuditChainHead },
      },
    },
    (request) => getHead(deps, callerOf(request)),
  );

  app.get(
    '/v1/audit/verify',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'forbidden',
        rate: rates.auditVerify,
        failures: [],
        isHeavy: true,
      },
      schema: {
        operationId: 'audit.verify',
        summary: 'Verify the chain, or a range of it',
        querystring: VerifyQuery,
        response: { 200: AuditChainVerification },
      },
    },
    (request) =>
      verifyOwnChain(
        { ...deps, pause: () => pauseOf(request) },
        callerOf(request),
        request.query,
        request.log,
      ),
  );

  app.get(
    '/v1/audit/:id',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'runtime',
        boundKeys: 'own agents',
        rate: 'default',
        failures: ['NOT_FOUND'],
      },
      schema: {
        operationId: 'audit.get',
        summary: 'Read an audit entry',
        params: EntryPath,
        response: { 200: AuditEntry },
      },
    },
    (request) => getEntry(deps, callerOf(request), request.params.id),
  );
};
