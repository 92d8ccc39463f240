import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { sendPacked } from '../../../platform/http/answers/send.ts';
import { verifierPage } from './verifier.ts';

/** The page that checks receipts. Its own policy holds on a disk too; a server adds that nobody may frame it. */
export async function verifierRoutes(app: FastifyInstance) {
  app.get(
    '/verify',
    {
      config: { access: 'none', rate: 'default', failures: ['SERVICE_UNAVAILABLE'] },
      schema: {
        operationId: 'receipts.page',
        summary: 'The page that checks receipts, as one file to keep',
        response: { 200: Type.Unsafe<Buffer | string>(Type.String()), 304: Type.Null() },
      },
    },
    async (request, reply) => {
      const { packed, policy } = verifierPage();
      return sendPacked(request, reply, packed, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `${policy}; frame-ancestors 'none'`,
        'cache-control': 'no-cache',
      });
    },
  );
}
