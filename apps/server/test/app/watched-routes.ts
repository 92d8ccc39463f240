import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { type TSchema, Type } from 'typebox';
import { Compile, type Validator } from 'typebox/compile';

const INITIALIZATION = 'fastify.initialization';

/** The answer where there is no route, and so no declaration. */
const Failure = Type.Object(
  {
    code: Type.String(),
    message: Type.String(),
    requestId: Type.String(),
    details: Type.Optional(Type.Object({})),
  },
  { additionalProperties: false },
);

/** The same below `/oauth` (RFC 6749 §5.2). */
const OAuthFailure = Type.Object(
  { error: Type.Literal('invalid_request'), error_description: Type.String() },
  { additionalProperties: false },
);

/**
 * Watches an app: notes its routes, and checks that each answer is declared by its route. Fastify announces
 * each app before anything is added to it, so the product needs no hook for this.
 */
export async function watchingRoutes<App>(build: () => Promise<App>) {
  const routes: RouteOptions[] = [];
  const undeclared: string[] = [];
  const watch = (message: unknown) => {
    const { fastify: app } = message as { fastify: FastifyInstance }; // the message of this channel
    app.addHook('onRoute', (route) => {
      if (route.method !== 'HEAD') routes.push(route);
    });
    app.addHook('onSend', async (request, reply, payload) => {
      const fault = faultOf(request, reply, payload);
      if (fault)
        undeclared.push(`${request.method} ${request.routeOptions.url} ${reply.statusCode}: ${fault}`);
    });
  };
  subscribe(INITIALIZATION, watch);
  const app = await build().finally(() => unsubscribe(INITIALIZATION, watch));
  return { app, routes, undeclared };
}

function faultOf(request: FastifyRequest, reply: FastifyReply, payload: unknown): string | undefined {
  if (request.method === 'HEAD' || request.method === 'OPTIONS') return undefined;
  if (reply.getHeader('behest-proxy') === 'upstream') return undefined; // the answer of another server
  const status = reply.statusCode;
  const stray = request.url.startsWith('/oauth/') ? OAuthFailure : Failure;
  const declared = request.is404 ? { [status]: stray } : request.routeOptions.schema?.response;
  const type = String(reply.getHeader('content-type') ?? '');
  return faultOfAnswer(declared, { status, type, body: payload });
}

interface Answered {
  readonly status: number;
  readonly type: string;
  readonly body: unknown;
}

/** The difference between an answer and its route's shapes by status. */
export function faultOfAnswer(declared: unknown, { status, type, body }: Answered): string | undefined {
  const schema = Object(declared)[status];
  if (!schema) return 'the status is not declared';
  if (!type.startsWith('application/json') || typeof body !== 'string') return undefined;
  const [first] = validatorOf(schema).Errors(JSON.parse(body));
  return first && `${first.instancePath} ${first.message}: ${body}`;
}

const validators = new WeakMap<TSchema, Validator>();
function validatorOf(schema: TSchema): Validator {
  const known = validators.get(schema) ?? Compile(schema);
  validators.set(schema, known);
  return known;
}
