import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { Type } from 'typebox';
import { type Finished, finished } from '../../finished.ts';
import { VERSION } from '../../version.ts';
import { sendFinished } from '../answers/send-finished.ts';
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
          grant: { type: 'http', scheme: 'bearer', description: 'The grant token of an agent.' },
          session: { type: 'http', scheme: 'bearer', description: "A principal's session token." },
          scim: { type: 'http', scheme: 'bearer', description: 'A SCIM token of an identity provider.' },
          ssf: {
            type: 'http',
            scheme: 'bearer',
            description: 'An access token of a receiver of signals.',
          },
          operator: { type: 'http', scheme: 'bearer', description: 'The `ADMIN_API_KEY` of the operator.' },
          consent: { type: 'apiKey', in: 'cookie', name: 'bh_consent_<request id>' },
          connect: { type: 'apiKey', in: 'cookie', name: 'bh_connect_<session id>' },
          approver: { type: 'apiKey', in: 'cookie', name: 'bh_approve' },
        },
      },
    },
    // A tag is the noun that an operation's id begins with; HEAD is GET without the body.
    exposeHeadRoutes: false,
    transform: ({ schema, url, route }) => {
      const shown = asSent(withoutOwnKeywords(schema));
      return { schema: isRepeatable(route) ? withIdempotency(shown) : shown, url };
    },
  });
}

/** `trim` is an instruction to our own validator, and no word of JSON Schema. */
function withoutOwnKeywords<Schema>(schema: Schema): Schema {
  return JSON.parse(JSON.stringify(schema ?? {}, (name, value) => (name === 'trim' ? undefined : value)));
}

/** Our validator fills defaults in and then demands the member, and a client may leave it out. */
function asSent<Schema extends FastifySchema>(schema: Schema): Schema {
  const { querystring, body } = schema;
  const sent = {
    ...(querystring !== undefined && { querystring: withDefaultsFree(querystring) }),
    ...(body !== undefined && { body: withDefaultsFree(body) }),
  };
  return { ...schema, ...sent };
}

function withDefaultsFree(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withDefaultsFree);
  if (typeof schema !== 'object' || schema === null) return schema;
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { default?: unknown }>> };
  const entries = Object.entries(schema).map(([name, value]) => {
    if (name !== 'required' || !Array.isArray(value)) return [name, withDefaultsFree(value)];
    return [name, value.filter((member) => properties[member]?.default === undefined)];
  });
  return Object.fromEntries(entries);
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

const Text = Type.Unsafe<Buffer | string>(Type.String());

/** The description itself. */
export async function openapiRoutes(app: FastifyInstance): Promise<void> {
  let described: Finished | undefined;
  const describe = () => {
    described ??= finished(JSON.stringify(app.swagger()));
    return described;
  };

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
    async (request, reply) =>
      sendFinished(request, reply, describe(), {
        'content-type': 'application/json; charset=utf-8',
        'cache-control': 'public, max-age=300',
      }),
  );
}
