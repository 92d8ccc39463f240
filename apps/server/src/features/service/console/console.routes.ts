import { existsSync, globSync, readFileSync } from 'node:fs';
import { extname, join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { AppError, notFound } from '../../../platform/errors.ts';
import { type Packable, packable } from '../../../platform/finished.ts';
import { sendPacked } from '../../../platform/http/answers/send.ts';
import { tailOf } from '../../../platform/http/routes/tails.ts';

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

/** What `apps/console/build.ts` writes. Packages and the image of the service hold it too. */
const FOLDER = join(import.meta.dirname, '../../../../console');
const DOCUMENT = 'index.html';
/** Files whose names hold the digest of their content. */
const ASSETS = 'assets/';

const TYPES = new Map([
  ['.html', 'text/html; charset=utf-8'],
  ['.css', 'text/css; charset=utf-8'],
  ['.js', 'text/javascript; charset=utf-8'],
  ['.svg', 'image/svg+xml'],
]);

interface ConsoleFile extends Packable {
  readonly type: string;
  readonly isDocument: boolean;
}

/** Read at the first request, and once in a process. */
let known: ReadonlyMap<string, ConsoleFile> | undefined;

/**
 * @param path below `/console/`
 * @returns an asset, and the document for every other path
 * @throws NOT_FOUND for an asset that the build does not have, SERVICE_UNAVAILABLE without a build
 */
function findFile(path: string): ConsoleFile {
  known ??= readFiles();
  const document = known.get(DOCUMENT);
  if (!document) {
    known = undefined; // a build may come while the process runs
    throw new AppError(
      'SERVICE_UNAVAILABLE',
      'The console is not built. `npm start` builds it; beside any other start, run `node apps/console/build.ts`.',
    );
  }
  if (!path.startsWith(ASSETS)) return document;
  const asset = known.get(path);
  if (!asset) throw notFound();
  return asset;
}

function readFiles(): ReadonlyMap<string, ConsoleFile> {
  if (!existsSync(FOLDER)) return new Map();
  return new Map(
    globSync(['index.html', 'assets/*'], { cwd: FOLDER }).flatMap((name) => {
      const type = TYPES.get(extname(name));
      if (type === undefined) return [];
      const file = packable(readFileSync(join(FOLDER, name)));
      return [[name, { ...file, type, isDocument: name === DOCUMENT }] as const];
    }),
  );
}
