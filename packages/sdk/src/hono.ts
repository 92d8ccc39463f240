import type { Result } from '@behest/protocol/enforcement/result';
import type { Behest } from './behest.ts';
import {
  type GuardedRequest,
  type GuardOptions,
  guardOf,
  insufficientScope,
  noGrant,
  type Refusal,
  refusalOf,
} from './http/guard.ts';
import { decideCall, type ToolRoute } from './http/tool-calls.ts';
import { missingScopes } from './verify/scopes.ts';
import type { VerifiedGrant } from './verify/verified-grant.ts';

export type { GuardOptions, ProofRules } from './http/guard.ts';
export type { ToolRoute } from './http/tool-calls.ts';

/** The parts of a Hono context that the middleware uses. */
export interface HonoContext {
  readonly req: {
    readonly method: string;
    readonly url: string;
    header(name: string): string | undefined;
    text(): Promise<string>;
  };
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
  /** The answer about the call, behind `enforceTool`. */
  enforcement: Result;
  /** The arguments that were checked, for the tool to use. */
  toolArguments: unknown;
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
    const guarded = await guard(context.req.header('authorization'), provedBy(context));
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

/**
 * Lets a request through when its tool call is allowed. The tool uses `c.get('toolArguments')`. A body that is no JSON is
 * answered with 400, and an empty one is `{}`.
 */
export function enforceTool<Context extends HonoContext>(behest: Behest, route: ToolRoute<Context>) {
  return async (context: Context, next: () => Promise<void>): Promise<Response | undefined> => {
    const authorization = context.req.header('authorization');
    const read = route.arguments ? { body: undefined } : bodyIn(await context.req.text());
    if (!read) return refuse(UNREADABLE);
    const { body } = read;
    const [grant, grantToken] = [context.get('grant'), context.get('grantToken')];
    const guarded = isGrant(grant) && typeof grantToken === 'string' ? { grant, grantToken } : {};
    const arrived = { ...provedBy(context), authorization, ...guarded };
    const decided = await decideCall(behest, route, { request: context, body, ...arrived });
    if (!decided.ok) return refuse(decided.refusal);
    context.set('enforcement', decided.result);
    context.set('toolArguments', decided.arguments);
    await next();
    return undefined;
  };
}

/** The parts of a request that a proof names. */
const provedBy = ({ req }: HonoContext): GuardedRequest => ({
  ...{ method: req.method, path: new URL(req.url).pathname },
  proof: req.header('dpop'),
});

/** An empty body is that of a call without arguments. @returns undefined for text that is no JSON */
function bodyIn(text: string): { readonly body: unknown } | undefined {
  try {
    return { body: text.trim() === '' ? undefined : JSON.parse(text) };
  } catch {
    return undefined;
  }
}

const UNREADABLE = refusalOf(400, 'BAD_REQUEST', 'The body is no JSON.', {});

function isGrant(value: unknown): value is VerifiedGrant {
  return typeof value === 'object' && value !== null && 'grantId' in value;
}

function refuse({ status, headers, body }: Refusal): Response {
  return Response.json(body, { status, headers });
}
