import { NoFields } from '@behest/protocol/shapes';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import { Type } from 'typebox';
import { finished } from '../../../platform/finished.ts';
import { sendFinished } from '../../../platform/http/answers/send.ts';
import { callerOf, operatorOf } from '../../../platform/http/callers/credentials.ts';
import { generalRates, rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { tailOf } from '../../../platform/http/routes/tails.ts';
import {
  getConsistency,
  getInclusion,
  getPublicNote,
  getTile,
  getTransparency,
  type ProofDeps,
  proofTextOf,
} from './prove.ts';
import { restartLog } from './restart.ts';
import {
  AccountPath,
  ConsistencyQuery,
  InclusionQuery,
  LogConsistency,
  LogInclusion,
  LogPath,
  LogRestart,
  TilePath,
  TransparencyState,
} from './transparency.schema.ts';

export const rates = rateRules({
  transparency: {
    perMinute: 600,
    describes: 'the public notes and tiles of logs, by client address',
    counts: [{ by: 'address' }],
  },
});

const READ = {
  access: 'developer',
  capability: 'read',
  role: 'runtime',
  boundKeys: 'forbidden',
  rate: 'default',
} as const;
const PLAIN = 'text/plain; charset=utf-8';

/** An answer for people, or to a client that asks for it the text that other programs for such logs read. */
const InclusionOrText = {
  description: 'With `Accept: text/plain` a `c2sp.org/tlog-proof@v1`.',
  content: { 'application/json': { schema: LogInclusion }, 'text/plain': { schema: Type.String() } },
};

export const transparencyRoutes: FastifyPluginAsyncTypebox<ProofDeps> = async (app, deps) => {
  app.get(
    '/v1/transparency',
    {
      config: { ...READ, failures: [] },
      schema: {
        operationId: 'transparency.get',
        summary: "Read the account's transparency log: its address, key and newest state",
        response: { 200: TransparencyState },
      },
    },
    (request) => getTransparency(deps, callerOf(request)),
  );

  app.get(
    '/v1/transparency/inclusion',
    {
      config: { ...READ, failures: ['NOT_FOUND', 'NOT_CONFIGURED'] },
      schema: {
        operationId: 'transparency.inclusion',
        summary: 'Prove that an entry stands in the log',
        description: 'Takes `entryId` or `seq`.',
        querystring: InclusionQuery,
        response: { 200: InclusionOrText },
      },
    },
    async (request, reply) => {
      const inclusion = await getInclusion(deps, callerOf(request), request.query);
      reply.header('vary', 'Accept');
      if (!request.headers.accept?.startsWith('text/plain')) return inclusion;
      return reply.type(PLAIN).send(proofTextOf(inclusion));
    },
  );

  app.get(
    '/v1/transparency/consistency',
    {
      config: { ...READ, failures: [] },
      schema: {
        operationId: 'transparency.consistency',
        summary: 'Prove that the log only grew between two sizes',
        querystring: ConsistencyQuery,
        response: { 200: LogConsistency },
      },
    },
    (request) => getConsistency(deps, callerOf(request), request.query),
  );
};

const isOpen = { access: 'none', rate: rates.transparency, isPublic: true } as const;
const NoteText = {
  description: 'A signed note',
  content: { 'text/plain': { schema: Type.Unsafe<string>(Type.String()) } },
};
const Hashes = {
  description: 'Hashes of 32 bytes, one after another',
  content: { 'application/octet-stream': { schema: Type.Unsafe<Buffer>(Type.String({ format: 'binary' })) } },
};

/** What anybody reads who knows the address of a log, as C2SP `tlog-tiles` says. */
export const publicLogRoutes: FastifyPluginAsyncTypebox<ProofDeps> = async (app, deps) => {
  app.get(
    '/log/:logId/checkpoint',
    {
      config: { ...isOpen, failures: ['NOT_FOUND', 'NOT_CONFIGURED'] },
      schema: {
        operationId: 'transparency.note',
        summary: 'Read the newest signed note of a log',
        params: LogPath,
        response: { 200: NoteText, 304: Type.Null() },
      },
    },
    async (request, reply) =>
      sendFinished(request, reply, finished(await getPublicNote(deps, request.params.logId)), {
        'content-type': PLAIN,
        'cache-control': 'public, max-age=5',
      }),
  );

  app.get(
    '/log/:logId/tile/:path',
    {
      config: { ...isOpen, failures: ['NOT_FOUND'], keepsTail: true },
      schema: {
        operationId: 'transparency.tile',
        summary: 'Read a tile of the hashes of a log',
        description: '`path` is `<level>/<index>[.p/<width>]` in the form of C2SP `tlog-tiles`.',
        params: TilePath,
        response: { 200: Hashes, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      const tile = await getTile(deps, request.params.logId, `tile/${tailOf(request)}`);
      return sendFinished(request, reply, finished(tile), {
        'content-type': 'application/octet-stream',
        'cache-control': 'public, max-age=31536000, immutable',
      });
    },
  );
};

export const logAdminRoutes: FastifyPluginAsyncTypebox<ProofDeps> = async (app, deps) => {
  app.post(
    '/v1/admin/developers/:id/log-restart',
    {
      config: { access: 'operator', rate: generalRates.admin, failures: ['NOT_FOUND', 'CONFLICT'] },
      schema: {
        operationId: 'transparency.restart',
        summary:
          'Begin another transparency log for an account whose log is halted or contradicted by a witness',
        description:
          'What was published of the old log stays at its address. The new one has all entries of the account.',
        params: AccountPath,
        body: NoFields,
        response: { 200: LogRestart },
      },
    },
    (request) => restartLog(deps, operatorOf(request), { developerId: request.params.id }),
  );
};
