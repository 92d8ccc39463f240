import type { Result } from '@behest/protocol/enforcement/result';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Behest } from './behest.ts';
import { BehestError } from './errors.ts';
import {
  type GuardedRequest,
  type GuardOptions,
  guardOf,
  insufficientScope,
  oneHeader,
  type Refusal,
} from './http/guard.ts';
import { decideCall, type ToolRoute } from './http/tool-calls.ts';
import { missingScopes } from './verify/scopes.ts';
import type { VerifiedGrant } from './verify/verified-grant.ts';

export type { GuardOptions, ProofRules } from './http/guard.ts';
export type { ToolRoute } from './http/tool-calls.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The grant of the request's token, behind `behestAuth`. */
    grant?: VerifiedGrant;
    grantToken?: string;
    /** The answer about the call, behind `enforceTool`. */
    enforcement?: Result;
    /** The arguments that were checked, for the tool to use. */
    toolArguments?: unknown;
  }
  interface FastifyContextConfig {
    /** `false` lets requests of this route through without a token. */
    behest?: false | { readonly scopes?: readonly string[] };
  }
}

/**
 * A Fastify plugin: every route of the instance that it is registered in needs a good grant token, which is at
 * `request.grant`. A route says more in its `config.behest`.
 *
 * @throws BehestError without `developerId`; and where a route says something else in `config.behest`
 *
 * @example
 * ```ts
 * await app.register(behestAuth, { jwksUri, audience, developerId });
 * app.get('/calendar', { config: { behest: { scopes: ['calendar:read'] } } }, (request) => eventsOf(request.grant));
 * ```
 */
export async function behestAuth(app: FastifyInstance, options: GuardOptions): Promise<void> {
  const guard = guardOf(options);
  app.addHook('onRoute', ({ url, config }) => checkSaid(url, config?.behest));
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const wanted = request.routeOptions.config.behest;
    if (wanted === false) return;
    const guarded = await guard(request.headers.authorization, provedBy(request));
    if (!guarded.ok) return refuse(reply, guarded.refusal);
    request.grant = guarded.grant;
    request.grantToken = guarded.token;
    const scopes = wanted?.scopes ?? [];
    if (missingScopes(guarded.grant, scopes).length > 0) return refuse(reply, insufficientScope(scopes));
  });
}

/**
 * A `preHandler` that lets a request through when its tool call is allowed. The tool uses `request.toolArguments`.
 *
 * @example
 * ```ts
 * app.post('/tools/refund', { preHandler: enforceTool(behest, { connector: 'pay', tool: 'refund' }) }, handler);
 * ```
 */
export function enforceTool(behest: Behest, route: ToolRoute<FastifyRequest>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> => {
    const { grant, grantToken, body } = request;
    const { authorization } = request.headers;
    const arrived = { ...provedBy(request), authorization, grant, grantToken };
    const decided = await decideCall(behest, route, { request, body, ...arrived });
    if (!decided.ok) return refuse(reply, decided.refusal);
    request.enforcement = decided.result;
    request.toolArguments = decided.arguments;
    return undefined;
  };
}

/**
 * A member that nothing reads, such as `tool` or a misspelt `scopes`, would leave a route open that was meant to be closed.
 *
 * @throws BehestError
 */
function checkSaid(url: string, said: unknown): void {
  if (said === undefined || said === false) return;
  const isObject = typeof said === 'object' && said !== null && !Array.isArray(said);
  const unknown = isObject ? Object.keys(said).filter((name) => name !== 'scopes') : [];
  const { scopes = [] } = Object(said);
  const isFit = isObject && Array.isArray(scopes) && scopes.every((each) => typeof each === 'string');
  if (isFit && unknown.length === 0) return;
  throw new BehestError(
    'CONFIGURATION',
    `config.behest of ${url} has to be false or { scopes: […] }${unknown.length > 0 ? `, and has ${unknown.join(', ')}` : ''}. Calls of tools are for the preHandler enforceTool.`,
  );
}

/** The parts of a request that a proof names. */
const provedBy = ({ method, originalUrl, headers }: FastifyRequest): GuardedRequest => ({
  ...{ method, path: originalUrl },
  proof: oneHeader(headers.dpop),
});

// Fastify reads this: the hook holds in the instance that registers the plugin, and not only inside the plugin.
Object.assign(behestAuth, { [Symbol.for('skip-override')]: true });

function refuse(reply: FastifyReply, { status, headers, body }: Refusal): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
