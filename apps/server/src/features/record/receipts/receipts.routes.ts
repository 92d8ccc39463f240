import type { Readable } from 'node:stream';
import type { FastifyPluginAsyncTypebox } from '@fastify/type-provider-typebox';
import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { bodyOf } from '../../../platform/http/answers/send.ts';
import { callerOf, sessionOf } from '../../../platform/http/callers/credentials.ts';
import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { type MadeReceipt, ownReceipt, type ReceiptDeps, receiptOfGrant } from './make.ts';
import { GrantPath, Receipt, ReceiptQuery } from './receipts.schema.ts';

export const rates = rateRules({
  receipt: {
    perMinute: 10,
    describes: 'receipts of grants, by developer',
    counts: [{ by: 'developer' }],
  },
  ownReceipt: {
    perMinute: 10,
    describes: 'receipts of own grants, by principal session',
    counts: [{ by: 'session' }],
  },
});

/** An answer that the service writes while it sends it. */
const sentReceipt = {
  description:
    'With `format=html`, a page that checks the receipt inside it and says in words what it proves. It needs no network.',
  content: {
    'application/json': { schema: Type.Unsafe<Readable>(Receipt) },
    'text/html': { schema: Type.Unsafe<Readable>(Type.String()) },
  },
};

export const receiptRoutes: FastifyPluginAsyncTypebox<ReceiptDeps> = async (app, deps) => {
  app.get(
    '/v1/grants/:id/receipt',
    {
      config: {
        access: 'developer',
        capability: 'read',
        role: 'full',
        isHeavy: true,
        rate: rates.receipt,
        failures: ['NOT_FOUND', 'EXPORT_TOO_LARGE', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        operationId: 'grants.receipt',
        summary: 'Get the receipt of a grant: what was approved, done under it and ended, with its proofs',
        params: GrantPath,
        querystring: ReceiptQuery,
        response: { 200: sentReceipt },
      },
    },
    async (request, reply) => {
      const asked = { ...request.query, languages: request.headers['accept-language'] };
      return sent(await receiptOfGrant(deps, callerOf(request), request.params.id, asked), reply);
    },
  );

  app.get(
    '/v1/principal/grants/:id/receipt',
    {
      config: {
        access: 'session',
        isHeavy: true,
        rate: rates.ownReceipt,
        failures: ['NOT_FOUND', 'EXPORT_TOO_LARGE', 'SERVICE_UNAVAILABLE'],
      },
      schema: {
        operationId: 'principals.receipt',
        summary:
          "Get the receipt of one of the principal's grants: what was approved, done under it and ended, with its proofs",
        params: GrantPath,
        querystring: ReceiptQuery,
        response: { 200: sentReceipt },
      },
    },
    async (request, reply) => {
      const asked = { ...request.query, languages: request.headers['accept-language'] };
      return sent(await ownReceipt(deps, sessionOf(request), request.params.id, asked), reply);
    },
  );
};

function sent({ grantId, format, texts }: MadeReceipt, reply: FastifyReply): FastifyReply {
  reply
    .type(MEDIA_TYPES[format])
    .header('content-disposition', `attachment; filename="receipt-${grantId}.${format}"`);
  return reply.send(bodyOf({ texts }, reply));
}

const MEDIA_TYPES = { json: 'application/json; charset=utf-8', html: 'text/html; charset=utf-8' };
