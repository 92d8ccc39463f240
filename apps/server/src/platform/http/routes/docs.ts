import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import swaggerUiFolder from 'swagger-ui-dist/absolute-path.js';
import { Type } from 'typebox';
import { notFound } from '../../errors.ts';
import { type Finished, finished } from '../../finished.ts';
import { sendFinished } from '../answers/send.ts';

const DOCS_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
const DOCS_FILES = new Map([
  ['start.js', 'text/javascript; charset=utf-8'],
  ['swagger-ui.css', 'text/css; charset=utf-8'],
  ['swagger-ui-bundle.js', 'text/javascript; charset=utf-8'],
]);
const START = `SwaggerUIBundle({ url: '/openapi.json', dom_id: '#docs', deepLinking: true });`;
const SHELL = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Behest API</title>
<link rel="stylesheet" href="/docs/swagger-ui.css">
</head>
<body>
<main id="docs"><p>The description of the API is at <a href="/openapi.json">/openapi.json</a>.</p></main>
<script src="/docs/swagger-ui-bundle.js"></script>
<script src="/docs/start.js"></script>
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
      const headers = { 'content-type': file.type, 'cache-control': 'public, max-age=300' };
      return sendFinished(request, reply, file, headers);
    },
  );
}

interface DocsFile extends Finished {
  readonly type: string;
}

/** Read once in a process, at start. Every answer is sent from this copy. */
function docsFiles(): ReadonlyMap<string, DocsFile> {
  read ??= new Map(
    [...DOCS_FILES].map(([file, type]) => {
      const body = file === 'start.js' ? START : readFileSync(join(swaggerUiFolder(), file));
      return [file, { ...finished(body), type }];
    }),
  );
  return read;
}

let read: ReadonlyMap<string, DocsFile> | undefined;
