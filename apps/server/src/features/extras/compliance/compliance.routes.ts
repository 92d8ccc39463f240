import type { Readable } from 'node:stream';
import { Time } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { bodyOf } from '../../../platform/http/answers/send.ts';
import { callerOf } from '../../../platform/http/callers/credentials.ts';
import { depsFor } from '../../../platform/http/idempotency/idempotency.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import {
  ComplianceSummary,
  EntryExportQuery,
  ExportedGrant,
  GrantExportQuery,
  HoldPath,
  HoldQuery,
  LegalHold,
  LegalHoldPage,
  NewLegalHold,
  NoFields,
  PackQuery,
  PersonQuery,
  packMembers,
  SpanQuery,
} from './compliance.schema.ts';
import {
  AuditEntry,
  type Export,
  exportEntries,
  exportGrants,
  exportPerson,
  type PersonDeps,
  summarise,
} from './export.ts';
import { type HoldDeps, listHolds, placeHold, releaseHold } from './holds.ts';
import { AuditChainVerification, makePack, type PackDeps, PolicyRecord } from './pack.ts';

export const rates = rateRules({
  complianceExport: {
    perMinute: 10,
    describes: 'exports and evidence packs, by developer',
    counts: [{ by: 'developer' }],
  },
  complianceHold: {
    perMinute: 30,
    describes: 'placing and releasing legal holds, by developer',
    counts: [{ by: 'developer' }],
  },
});

const heavy = { access: 'developer', role: 'full', isHeavy: true } as const;

/** An answer that the service writes while it sends it. */
const sentAs = (schema: object) => ({ schema: Type.Unsafe<Readable>(schema) });
const LINES =
  'As `application/x-ndjson`, one a line, and last `{"type":"end","total":…,"sha256":…}`, whose hash is that of all bytes before that line.';
const text = sentAs(Type.String());

/** @public The API description names it. */
export const GrantExport = Type.Object({
  generatedAt: Time,
  total: Type.Integer(),
  grants: Type.Array(ExportedGrant),
});
/** @public The API description names it. */
export const AuditExport = Type.Object({
  generatedAt: Time,
  total: Type.Integer(),
  entries: Type.Array(AuditEntry),
});
/** @public The API description names it. */
export const EvidencePack = Type.Object({
  meta: packMembers.meta,
  summary: packMembers.summary,
  grants: Type.Array(ExportedGrant),
  auditEntries: Type.Array(AuditEntry),
  policies: Type.Array(PolicyRecord),
  chainIntegrity: AuditChainVerification,
  controls: packMembers.controls,
  attestation: packMembers.attestation,
});

const sentGrants = {
  description: `The grants, newest first. ${LINES}`,
  content: {
    'application/json': sentAs(GrantExport),
    'application/x-ndjson': text,
    'text/csv': text,
  },
};

const sentEntries = {
  description: `The audit entries in the order of the chain. ${LINES} With \`format=ocsf\`, each line is an event of OCSF 1.6.0, and no other line follows.`,
  content: {
    'application/json': sentAs(AuditExport),
    'application/x-ndjson': text,
    'text/csv': text,
  },
};

const sentPerson = {
  description: `The records, each with its \`type\`. ${LINES}`,
  content: { 'application/x-ndjson': text },
};

const sentPack = {
  description:
    'The members stand in this order, each in its canonical form (RFC 8785). An archive (`format=zip`) has `pack.json`, `chain.json`, `report.html`, `jwks.json` and the signed `manifest.json`.',
  content: {
    'application/json': sentAs(EvidencePack),
    'application/zip': sentAs(Type.String()),
  },
};

export const complianceRoutes: FastifyPluginAsyncTypebox<PackDeps & PersonDeps> = async (app, deps) => {
  app.get(
    '/v1/compliance/summary',
    {
      config: { ...heavy, capability: 'read', rate: 'default', failures: [] },
      schema: {
        operationId: 'compliance.summary',
        summary: 'Count agents, grants, audit entries and policies',
        querystring: SpanQuery,
        response: { 200: ComplianceSummary },
      },
    },
    (request) => summarise(deps, callerOf(request), request.query),
  );

  app.get(
    '/v1/compliance/export/grants',
    {
      config: {
        ...heavy,
        capability: 'export',
        stepUp: true,
        actsOnGet: true,
        rate: rates.complianceExport,
        failures: ['EXPORT_TOO_LARGE'],
      },
      schema: {
        operationId: 'compliance.exportGrants',
        summary: 'Export grants as JSON, as lines of JSON or as CSV',
        querystring: GrantExportQuery,
        response: { 200: sentGrants },
      },
    },
    async (request, reply) => {
      const { query, headers } = request;
      return sent(await exportGrants(deps, callerOf(request), query, headers.accept), reply);
    },
  );

  app.get(
    '/v1/compliance/export/audit',
    {
      config: {
        ...heavy,
        capability: 'export',
        stepUp: true,
        actsOnGet: true,
        rate: rates.complianceExport,
        failures: ['EXPORT_TOO_LARGE'],
      },
      schema: {
        operationId: 'compliance.exportAudit',
        summary: 'Export audit entries as JSON, as lines of JSON, as CSV or as events of OCSF',
        querystring: EntryExportQuery,
        response: { 200: sentEntries },
      },
    },
    async (request, reply) => {
      const { query, headers } = request;
      return sent(await exportEntries(deps, callerOf(request), query, headers.accept), reply);
    },
  );

  app.get(
    '/v1/compliance/export/principal',
    {
      config: {
        ...heavy,
        capability: 'export',
        stepUp: true,
        actsOnGet: true,
        rate: rates.complianceExport,
        failures: [],
      },
      schema: {
        operationId: 'compliance.exportPrincipal',
        summary: 'Export everything that is kept about a person',
        description:
          'For a request of a person for access to their data. The id is compared exactly. No record has a secret or a credential.',
        querystring: PersonQuery,
        response: { 200: sentPerson },
      },
    },
    async (request, reply) =>
      sent(await exportPerson(deps, callerOf(request), request.query.principalId), reply),
  );

  app.get(
    '/v1/compliance/evidence-pack',
    {
      config: {
        ...heavy,
        capability: 'export',
        stepUp: true,
        actsOnGet: true,
        rate: rates.complianceExport,
        failures: ['EXPORT_TOO_LARGE'],
      },
      schema: {
        operationId: 'compliance.evidencePack',
        summary: 'Make a signed pack of evidence that an auditor can check without the service',
        querystring: PackQuery,
        response: { 200: sentPack },
      },
    },
    async (request, reply) =>
      sent(await makePack(deps, callerOf(request), request.query, request.log), reply),
  );
};

const sent = (made: Export, reply: FastifyReply) => reply.type(made.type).send(bodyOf(made, reply));

const FULL = { access: 'developer', role: 'full' } as const;

export const holdRoutes: FastifyPluginAsyncTypebox<HoldDeps> = async (app, deps) => {
  app.post(
    '/v1/compliance/holds',
    {
      config: { ...FULL, capability: 'configure', rate: rates.complianceHold, failures: ['CONFLICT'] },
      schema: {
        operationId: 'compliance.placeHold',
        summary: 'Place a legal hold',
        description: 'While a hold stands, the account cannot be closed, so nothing of it is erased.',
        body: NewLegalHold,
        response: { 201: LegalHold },
      },
    },
    async (request, reply) =>
      reply.code(201).send(await placeHold(depsFor(request, deps), callerOf(request), request.body)),
  );

  app.get(
    '/v1/compliance/holds',
    {
      config: { ...FULL, capability: 'read', rate: 'default', failures: [] },
      schema: {
        operationId: 'compliance.listHolds',
        summary: 'List legal holds, newest first',
        querystring: HoldQuery,
        response: { 200: LegalHoldPage },
      },
    },
    (request) => listHolds(deps, callerOf(request), request.query),
  );

  app.post(
    '/v1/compliance/holds/:id/release',
    {
      config: { ...FULL, capability: 'govern', rate: rates.complianceHold, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'compliance.releaseHold',
        summary: 'Release a legal hold',
        description: 'The hold stays in the list. To release it again changes nothing.',
        params: HoldPath,
        body: NoFields,
        response: { 200: LegalHold },
      },
    },
    (request) => releaseHold(depsFor(request, deps), callerOf(request), request.params.id),
  );
};
