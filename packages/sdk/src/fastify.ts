import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { type GuardOptions, guardOf, insufficientScope, type Refusal } from './http/guard.ts';
import { missingScopes } from './verify/scopes.ts';
import type { VerifiedGrant } from './verify/verified-grant.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The grant of the request's token, behind `behestAuth`. */
    grant?: VerifiedGrant;
    grantToken?: string;
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
 * @throws BehestError without `developerId`
 *
 * @example
 * ```ts
 * await app.register(behestAuth, { jwksUri, audience, developerId });
 * app.get('/calendar', { config: { behest: { scopes: ['calendar:read'] } } }, (request) => eventsOf(request.grant));
 * ```
 */
export async function behestAuth(app: FastifyInstance, options: GuardOptions): Promise<void> {
  const guard = guardOf(options);
  app.addHook('onRequest', async (request: FastifyRequest, reply: FastifyReply) => {
    const wanted = request.routeOptions.config.behest;
    if (wanted === false) return;
    const guarded = await guard(request.headers.authorization);
    if (!guarded.ok) return refuse(reply, guarded.refusal);
    request.grant = guarded.grant;
    request.grantToken = guarded.token;
    const scopes = wanted?.scopes ?? [];
    if (missingScopes(guarded.grant, scopes).length > 0) return refuse(reply, insufficientScope(scopes));
  });
}

// Fastify reads this: the hook holds in the instance that registers the plugin, and not only inside the plugin.
Object.assign(behestAuth, { [Symbol.for('skip-override')]: true });

function refuse(reply: FastifyReply, { status, headers, body }: Refusal): FastifyReply {
  return reply.code(status).headers(headers).send(body);
}
