import type { FastifyInstance } from 'fastify';
import { Type } from 'typebox';
import { packable } from '../../../platform/finished.ts';
import { sendPacked } from '../../../platform/http/answers/send.ts';

/** The page that checks receipts. Its own policy holds on a disk too; a server adds that nobody may frame it. */
export async function verifierRoutes(app: FastifyInstance, { verifier }: { readonly verifier: string }) {
  const page = packable(verifier);
  const [, policy = ''] = /content-security-policy" content="([^"]*)"/.exec(verifier) ?? [];

  app.get(
    '/verify',
    {
      config: { access: 'none', rate: 'default', failures: [] },
      schema: {
        operationId: 'receipts.page',
        summary: 'The page that checks receipts, as one file to keep',
        response: { 200: Type.Unsafe<Buffer | string>(Type.String()), 304: Type.Null() },
      },
    },
    async (request, reply) =>
      sendPacked(request, reply, page, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': `${policy}; frame-ancestors 'none'`,
        'cache-control': 'no-cache',
      }),
  );
}
