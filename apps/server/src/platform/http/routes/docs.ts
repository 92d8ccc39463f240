import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
// @ts-expect-error The package has no types. This is a function, which returns the folder of its files.
import swaggerUiFolder from 'swagger-ui-dist/absolute-path.js';
import { Type } from 'typebox';
import { notFound } from '../../errors.ts';
import { type Packable, packable } from '../../finished.ts';
import { sendPacked } from '../answers/send.ts';

interface Options {
  readonly publicBaseUrl: string;
  readonly hasDocs: boolean;
}

/** The description of the API: `openapi.json`, which `npm run generate` makes from the routes. */
export async function openapiRoutes(app: FastifyInstance, options: Options): Promise<void> {
  let described: Promise<Packable> | undefined;

  app.get(
    '/openapi.json',
    {
      config: { access: 'none', rate: 'default', isPublic: true, failures: [] },
      schema: {
        operationId: 'operations.openapi',
        summary: 'This description',
        response: { 200: Text, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      described ??= describe(options);
      return sendPacked(request, reply, await described, {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=300',
      });
    },
  );
}

/** As it is committed, with the address of this service and without pages that it does not serve. */
async function describe({ publicBaseUrl, hasDocs }: Options): Promise<Packable> {
  // The bundle of the sources has the file as a part of its own, which loads with the first request for it.
  const { default: made } = await import('../../../../../../openapi.json', { with: { type: 'json' } });
  const paths = Object.entries(made.paths).filter(([path]) => hasDocs || !/^\/docs(\/|$)/.test(path));
  return packable(
    JSON.stringify({ ...made, servers: [{ url: publicBaseUrl }], paths: Object.fromEntries(paths) }),
  );
}

const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/** The page's own files come after those of Swagger UI, which they change. */
const DOCS_FILES = new Map([
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
  ['docs.css', 'text/css; charset=utf-8'],
  ['docs.js', 'text/javascript; charset=utf-8'],
]);
const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Behest API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
<link rel="stylesheet" href="/docs/docs.css">
</head>
<body>
<div id="docs"><p>The description of the API is at <a href="/openapi.json">/openapi.json</a>.</p></div>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/docs.js"></script>
</body>
</html>
`;

const Text = Type.Unsafe<Buffer | string>(Type.String());
const FileName = Type.Object({ file: Type.String() });

/** A page that shows the description of the API. */
export async function docsRoutes(app: FastifyInstance): Promise<void> {
  const files = docsFiles();

  app.get(
    '/docs',
    {
      config: { access: 'none', rate: 'default', isPublic: true, failures: [] },
      schema: {
        operationId: 'operations.docs',
        summary: 'This description as a page to read',
        response: { 200: Text },
      },
    },
    async (_request, reply) =>
      reply
        .headers({ 'content-type': 'text/html; charset=utf-8', 'content-security-policy': DOCS_POLICY })
        .send(SHELL),
  );

  app.get<{ Params: { file: string } }>(
    '/docs/:file',
    {
      config: { access: 'none', rate: 'default', isPublic: true, failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'operations.docsFile',
        summary: 'A script or style of that page',
        params: FileName,
        response: { 200: Text, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      const file = files.get(request.params.file);
      if (!file) throw notFound();
      return sendPacked(request, reply, file, {
        'content-type': file.type,
        'cache-control': 'public, max-age=300',
      });
    },
  );
}

interface DocsFile extends Packable {
  readonly type: string;
}

/** Read once in a process, at start. Every answer is sent from this copy. */
function docsFiles(): ReadonlyMap<string, DocsFile> {
  read ??= new Map(
    [...DOCS_FILES].map(([file, type]) => {
      const folder = file.startsWith('docs.') ? join(import.meta.dirname, 'docs') : swaggerUiFolder();
      return [file, { ...packable(readFileSync(join(folder, file))), type }];
    }),
  );
  return read;
}

let read: ReadonlyMap<string, DocsFile> | undefined;
