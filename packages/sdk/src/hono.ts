import { type GuardOptions, guardOf, insufficientScope, noGrant, type Refusal } from './http/guard.ts';
import { missingScopes } from './verify/scopes.ts';
import type { VerifiedGrant } from './verify/verified-grant.ts';

/** The parts of a Hono context that the middleware uses. */
export interface HonoContext {
  readonly req: { header(name: string): string | undefined };
  get(key: string): unknown;
  set(key: string, value: unknown): void;
}

export type HonoMiddleware = (
  context: HonoContext,
  next: () => Promise<void>,
) => Promise<Response | undefined>;

/** The variables of a Hono application behind `requireGrantToken`. */
export interface BehestVariables {
  grant: VerifiedGrant;
  grantToken: string;
}

/**
 * Lets requests with a good grant token through, and sets `c.get('grant')`.
 *
 * @throws BehestError without `developerId`
 *
 * @example
 * ```ts
 * const app = new Hono<{ Variables: BehestVariables }>();
 * app.use('/api/*', requireGrantToken({ jwksUri, audience, developerId }));
 * app.get('/api/calendar', requireScopes('calendar:read'), (c) => c.json(eventsOf(c.get('grant'))));
 * ```
 */
export function requireGrantToken(options: GuardOptions): HonoMiddleware {
  const guard = guardOf(options);
  return async (context, next) => {
    const guarded = await guard(context.req.header('authorization'));
    if (!guarded.ok) return refuse(guarded.refusal);
    context.set('grant', guarded.grant);
    context.set('grantToken', guarded.token);
    await next();
    return undefined;
  };
}

/** Lets requests through whose token covers every one of the scopes. It comes after `requireGrantToken`. */
export function requireScopes(...scopes: string[]): HonoMiddleware {
  return async (context, next) => {
    const grant = context.get('grant');
    if (!isGrant(grant)) throw noGrant();
    if (missingScopes(grant, scopes).length > 0) return refuse(insufficientScope(scopes));
    await next();
    return undefined;
  };
}

function isGrant(value: unknown): value is VerifiedGrant {
  return typeof value === 'object' && value !== null && 'grantId' in value;
}

function refuse({ status, headers, body }: Refusal): Response {
  return Response.json(body, { status, headers });
}
