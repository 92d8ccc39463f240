import { STATUS_CODES } from 'node:http';
import { type ErrorCode, errorCodes } from '@behest/protocol/errors';
import type { FastifySchema, RouteOptions } from 'fastify';
import { isRepeatable } from '../../../apps/server/src/platform/http/routes/declarations.ts';
import type { Components } from './components.ts';

/** The operations of a path by their methods. */
export type Operations = Readonly<Record<string, object>>;

interface Parameters {
  readonly properties?: Readonly<
    Record<string, { readonly description?: string; readonly default?: unknown }>
  >;
  readonly required?: readonly string[];
}

export const pathOf = (url: string): string => url.replaceAll(/:(\w+)/g, '{$1}').replace('*', '{*}');

const KEY = {
  name: 'Idempotency-Key',
  in: 'header',
  required: false,
  schema: { type: 'string', minLength: 1, maxLength: 255 },
  description: 'Names the request: a repeat with the same key gets the first answer.',
};
const REPLAYED = {
  schema: { type: 'string', enum: ['true'] },
  description: 'The service gave this answer before.',
};

/** A route as an operation of the description. */
export function operationOf(route: RouteOptions, components: Components): object {
  const { operationId, summary, description, tags, security, consumes, ...schema }: FastifySchema =
    route.schema ?? {};
  const parameters = [
    ...parametersOf('query', schema.querystring, components),
    ...parametersOf('path', schema.params ?? { properties: namesIn(route.url) }, components),
    ...(isRepeatable(route) ? [KEY] : []),
  ];
  const body = schema.body ? components.add(Object(schema.body), 'input') : undefined;
  return {
    ...{ operationId, summary, tags, description, security },
    ...(route.config?.capability && { 'x-capability': route.config.capability }),
    ...(route.config?.sandboxCapability && { 'x-sandbox-capability': route.config.sandboxCapability }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: true,
        content: Object.fromEntries(
          (consumes ?? ['application/json']).map((type) => [type, { schema: body }]),
        ),
      },
    }),
    responses: responsesOf(Object(schema.response), isRepeatable(route), components),
  };
}

const namesIn = (url: string) =>
  Object.fromEntries([...url.matchAll(/:(\w+)/g)].map(([, name = '']) => [name, { type: 'string' }]));

function parametersOf(place: 'query' | 'path', given: unknown, components: Components): object[] {
  const { properties = {}, required = [] }: Parameters = Object(given);
  return Object.entries(properties).map(([name, member]) => {
    const { description, ...schema } = member;
    const isNeeded = place === 'path' || (required.includes(name) && member.default === undefined);
    return {
      ...{ name, in: place, required: isNeeded, schema: components.add(schema, 'input') },
      ...(description && { description }),
    };
  });
}

function responsesOf(
  shapes: Readonly<Record<string, Response>>,
  isRepeated: boolean,
  components: Components,
) {
  const responses = Object.entries(shapes).map(([status, shape]) => {
    const headers = isRepeated && status.startsWith('2') && { 'Idempotency-Replayed': REPLAYED };
    return [status, { ...responseOf(status, shape, components), ...(headers && { headers }) }];
  });
  return Object.fromEntries(responses);
}

interface Response {
  readonly type?: string;
  readonly description?: string;
  readonly content?: Readonly<Record<string, { readonly schema: object }>>;
  readonly properties?: {
    readonly code?: { readonly enum?: readonly ErrorCode[] };
    readonly requestId?: object;
  };
}

function responseOf(status: string, shape: Response, components: Components): object {
  const { code, requestId } = shape.properties ?? {};
  if (status >= '400' && code?.enum && requestId) return refusalOf(code.enum, shape, components);
  const description = shape.description ?? (status < '400' ? STATUS_CODES[status] : 'Refused');
  if (shape.type === 'null') return { description };
  const contents = Object.entries(shape.content ?? { 'application/json': { schema: shape } });
  const content = contents.map(([type, { schema }]) => [type, { schema: components.add(schema, 'answer') }]);
  return { description, content: Object.fromEntries(content) };
}

/** Every refusal has the members of `Error`; each status has its own codes. */
function refusalOf(codes: readonly ErrorCode[], shape: Response, components: Components): object {
  const { properties } = components.add(shape, 'answer') as {
    properties: Record<string, { properties?: object }>;
  };
  const { details } = properties;
  const own = {
    code: { enum: codes },
    ...(details?.properties &&
      Object.keys(details.properties).length > 0 && { details: { properties: details.properties } }),
  };
  return {
    description: codes.map((code) => `\`${code}\`: ${errorCodes[code].meaning}`).join(' '),
    content: {
      'application/json': {
        schema: { allOf: [{ $ref: '#/components/schemas/Error' }, { properties: own }] },
      },
    },
  };
}

/** The shape of every refusal that no standard describes. */
export const errorSchemas = {
  Error: {
    type: 'object',
    required: ['code', 'message', 'requestId'],
    properties: {
      code: { $ref: '#/components/schemas/ErrorCode' },
      message: { type: 'string' },
      requestId: { type: 'string' },
      details: { type: 'object', properties: {}, additionalProperties: true },
    },
  },
  ErrorCode: { enum: Object.keys(errorCodes) },
};
