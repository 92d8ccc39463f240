import type { FastifyInstance, FastifyRequest } from 'fastify';
import { type BrowserRequest, type Caller, CONSOLE_COOKIE } from '../../caller.ts';
import { type Capability, mustBeSteppedUp, mustHold, needsStepUp } from '../../capabilities.ts';
import { AppError } from '../../errors.ts';
import {
  anonymousBills,
  failureBills,
  memberCharges,
  multipliedCharges,
  resourceBills,
  resourceIdOf,
} from '../limits/bills.ts';
import {
  type CallerContext,
  type CallerKind,
  cookiesIn,
  type RequestCaller,
  unauthorized,
} from './credentials.ts';

/** Whether a request on a route for API keys comes with the cookie of a session instead. With a key, the cookie is ignored. */
export const isOfConsole = ({ headers }: FastifyRequest): boolean =>
  headers.authorization === undefined && headers.cookie?.includes(`${CONSOLE_COOKIE}=`) === true;

/** A member on a route of the console, by the cookie of their session. */
export const member: CallerKind = {
  chargesAddress: true,
  isOnOwnHost: true,
  async authenticate(context) {
    const { request, reply } = context;
    if (isOfConsole(request)) return authenticateMember(context);
    await context.charge(anonymousBills(request, context.limits));
    await context.charge(failureBills(request, context.limits));
    throw unauthorized(reply, undefined, 'Sign in to the console. This route takes no API key.');
  },
};

/**
 * Finds the member of a session, and charges them by the route's rule and by that of the console: the budget of the plan
 * is for API keys.
 * @throws UNAUTHORIZED, FORBIDDEN, RATE_LIMITED
 */
export async function authenticateMember(context: CallerContext): Promise<RequestCaller> {
  const { request, reply, charge, limits, credentials } = context;
  await charge(anonymousBills(request, limits));
  // Pages of other origins read no answer to a cookie, whatever the operator allows them with a key.
  for (const name of Object.keys(reply.getHeaders()))
    if (name.startsWith('access-control-')) reply.removeHeader(name);
  const caller = await credentials.console(browserRequestOf(request)).catch(async (error: unknown) => {
    if (error instanceof AppError) await charge(failureBills(request, limits));
    throw error;
  });
  const bills = memberCharges(request, caller, limits);
  await charge(bills);
  const needed = neededFor(request, caller);
  mustHold(caller, needed);
  if (request.declared.stepUp === true || needsStepUp(needed)) mustBeSteppedUp(caller);
  return {
    kind: 'member',
    caller,
    async chargeMore(times) {
      await charge(bills.map((bill) => multipliedCharges(bill, times)));
    },
  };
}

/** The route's own capability. What a session of a live account never does, one of a sandbox may do for the tour. */
function neededFor({ declared }: FastifyRequest, { mode }: Caller): Capability | 'never' | undefined {
  const { capability, sandboxCapability } = declared;
  return capability === 'never' && mode === 'sandbox' ? (sandboxCapability ?? capability) : capability;
}

/** Lets routes ask for more than their own capability, and for a step-up, by the body. Add it before the routes. */
export function addBodyCapabilities(app: FastifyInstance): void {
  app.addHook('onRoute', (route) => {
    const { capabilityFor, stepUp } = route.config ?? {};
    if (!capabilityFor && typeof stepUp !== 'function') return;
    route.preHandler = [
      ...[route.preHandler ?? []].flat(),
      (request, _reply, done) => {
        mustBeAllowed(request, request.body);
        done();
      },
    ];
  });
}

/** Asks a member for what their body needs besides the route's own capability. @throws FORBIDDEN, STEP_UP_REQUIRED */
export function mustBeAllowed({ caller: found, declared }: FastifyRequest, body: unknown): void {
  if (found?.kind !== 'member') return;
  const { caller } = found;
  const { capabilityFor, stepUp } = declared;
  const needed = capabilityFor?.(body);
  mustHold(caller, needed);
  const isAsked = typeof stepUp === 'function' && stepUp(body);
  if (needsStepUp(needed) || isAsked) mustBeSteppedUp(caller);
}

/** A person on a page of the service, by the cookie of the record that the path names. */
export const page = (access: 'consent' | 'connect'): CallerKind => ({
  async authenticate({ request, charge, limits, credentials }) {
    const caller = await credentials[access](browserRequestOf(request));
    await charge(resourceBills(request, limits));
    return { kind: 'page', caller };
  },
});

export function browserRequestOf(request: FastifyRequest): BrowserRequest {
  const { headers, method, ip, id: requestId } = request;
  return {
    resourceId: resourceIdOf(request) ?? '',
    cookies: cookiesIn(headers),
    csrfToken: headers['x-csrf-token']?.toString(),
    origin: headers.origin,
    fetchSite: headers['sec-fetch-site']?.toString(),
    contentType: headers['content-type'],
    isWrite: method !== 'GET' && method !== 'HEAD',
    isBackground: request.declared.isLive === true || headers['behest-background'] === '1',
    hasAuthorization: headers.authorization !== undefined,
    requestId,
    ip,
    userAgent: headers['user-agent'],
  };
}
