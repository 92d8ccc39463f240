import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { sendPacked } from '../../../platform/http/answers/send.ts';
import { tailOf } from '../../../platform/http/routes/tails.ts';
import { findFile } from './files.ts';

/**
 * Only the service's own files and its own API. Nothing may frame the console, and no script or style stands in the
 * document itself.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types preview";

const ONE_YEAR = 'public, max-age=31536000, immutable';
const Bytes = Type.Unsafe<Buffer | string>(Type.String());

const route = {
  config: { access: 'none', rate: 'default', failures: ['NOT_FOUND'], onOwnHost: true },
  shapes: { hide: true, response: { 200: Bytes, 304: Type.Null() } },
} as const;

/** The console: one document for every page of it, which its own router reads from the address, and the files below. */
export async function consoleRoutes(app: FastifyInstance): Promise<void> {
  app.get(
    '/console',
    {
      config: { ...route.config, takesSlash: true },
      schema: { ...route.shapes, operationId: 'console.page', summary: 'The console' },
    },
    async (request, reply) => sendFile(request, reply, ''),
  );

  app.get<{ Params: { path: string } }>(
    '/console/:path',
    {
      config: { ...route.config, keepsTail: true },
      schema: {
        ...route.shapes,
        operationId: 'console.file',
        summary: 'A page of the console, or a script or style of it',
        params: Type.Object({ path: Type.String() }),
      },
    },
    async (request, reply) => sendFile(request, reply, tailOf(request)),
  );
}

function sendFile(request: FastifyRequest, reply: FastifyReply, tail: string): FastifyReply {
  const { isDocument, type, ...file } = findFile(tail.replace(/[?#].*$/s, ''));
  const headers = isDocument
    ? { 'cache-control': 'no-store', 'content-security-policy': POLICY }
    : { 'cache-control': ONE_YEAR };
  return sendPacked(request, reply, file, { ...headers, 'content-type': type });
}
