import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import swaggerUiFolder from 'swagger-ui-dist/absolute-path.js';
import { Type } from 'typebox';
import { notFound } from '../../errors.ts';
import { type Finished, finished } from '../../finished.ts';
import { VERSION } from '../../version.ts';
import { FOR_ALL_ORIGINS, sendFinished } from '../answers/send-finished.ts';
import { isRepeatable } from './declarations.ts';

/** The first words of the operation ids of the platform's own routes. */
const OWN_TAGS = { pages: 'Files that the pages for people share.' };

/** Sets up the published description. Call it before the routes are added. */
export async function describeRoutes(
  app: FastifyInstance,
  publicBaseUrl: string,
  tags: Readonly<Record<string, string>>,
): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Behest',
        version: VERSION,
        description: 'Authorization for AI agents that act on behalf of people.',
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
      },
      servers: [{ url: publicBaseUrl }],
      tags: Object.entries({ ...tags, ...OWN_TAGS }).map(([name, description]) => ({ name, description })),
      components: {
        securitySchemes: {
          developer: { type: 'http', scheme: 'bearer', description: 'A developer API key.' },
          session: { type: 'http', scheme: 'bearer', description: "A principal's session token." },
          consent: { type: 'apiKey', in: 'cookie', name: 'bh_consent_<request id>' },
        },
      },
    },
    // A tag is the noun that an operation's id begins with; HEAD is GET without the body.
    exposeHeadRoutes: false,
    transform: ({ schema, url, route }) => {
      const shown = withoutOwnKeywords(schema);
      return { schema: isRepeatable(route) ? withIdempotency(shown) : shown, url };
    },
  });
}

/** `trim` is an instruction to our own validator, and no word of JSON Schema. */
function withoutOwnKeywords<Schema>(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema ?? {}, (name, value) => (name === 'trim' ? undefined : value)));
}

const KEY = {
  type: 'string',
  minLength: 1,
  maxLength: 255,
  description: 'Names the request: a repeat with the same key gets the first answer.',
};
const REPLAYED = { type: 'string', enum: ['true'], description: 'The service gave this answer before.' };

/** For the description only: the service checks the header long before the schema. */
function withIdempotency<Schema extends FastifySchema | undefined>(schema: Schema): Schema {
  const response = Object.entries(Object(schema?.response)).map(([status, shape]) =>
    status.startsWith('2')
      ? [status, { ...Object(shape), headers: { 'Idempotency-Replayed': REPLAYED } }]
      : [status, shape],
  );
  const headers = { type: 'object', properties: { 'Idempotency-Key': KEY } };
  return { ...schema, headers, response: Object.fromEntries(response) };
}

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
const DocsFile = Type.Object({ file: Type.String() });

/** The description itself, and a page that shows it. */
export async function openapiRoutes(app: FastifyInstance): Promise<void> {
  let described: Finished | undefined;
  const describe = () => {
    described ??= finished(Buffer.from(JSON.stringify(app.swagger())));
    return described;
  };

  app.get(
    '/openapi.json',
    {
      config: { access: 'none', rate: 'default', failures: [] },
      schema: {
        operationId: 'operations.openapi',
        summary: 'This description',
        response: { 200: Text, 304: Type.Null() },
      },
    },
    async (request, reply) =>
      sendFinished(request, reply, describe(), {
        ...FOR_ALL_ORIGINS,
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=300',
      }),
  );

  app.get(
    '/docs',
    {
      config: { access: 'none', rate: 'default', failures: [] },
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
      config: { access: 'none', rate: 'default', failures: ['NOT_FOUND'] },
      schema: {
        operationId: 'operations.docsFile',
        summary: 'A script or style of that page',
        params: DocsFile,
        response: { 200: Text, 304: Type.Null() },
      },
    },
    async (request, reply) => {
      const { file } = request.params;
      const type = DOCS_FILES.get(file);
      if (!type) throw notFound();
      const headers = { 'content-type': type, 'cache-control': 'public, max-age=300' };
      return sendFinished(request, reply, docsFile(file), headers);
    },
  );
}

/** A file of the page. Most processes never serve one, so each is read at its first request. */
function docsFile(file: string): Finished {
  const known = docsFiles.get(file);
  if (known) return known;
  const body = file === 'start.js' ? START : readFileSync(join(swaggerUiFolder(), file));
  const read = finished(body);
  docsFiles.set(file, read);
  return read;
}

const docsFiles = new Map<string, Finished>();
