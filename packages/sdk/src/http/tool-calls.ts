import { copyArguments } from '@behest/protocol/arguments/read-arguments';
import type { Result } from '@behest/protocol/enforcement/result';
import type { Behest } from '../behest.ts';
import { bearerToken, type Refusal, refusalOf, unauthorized } from './guard.ts';

/** The parts of a tool call that the gateway knows, each as a value or read from the request. */
export interface ToolRoute<Request> {
  readonly connector: string;
  readonly tool: string | ((request: Request) => string);
  /** Default: the parsed body, and `{}` without one. */
  readonly arguments?: (request: Request) => unknown;
  readonly resource?: (request: Request) => string | undefined;
  readonly amount?: (request: Request) => number | undefined;
  readonly caseId?: (request: Request) => string | undefined;
  readonly caseVersion?: (request: Request) => string | undefined;
  readonly callId?: (request: Request) => string | undefined;
}

export type DecidedCall =
  | { readonly ok: true; readonly result: Result; readonly arguments: unknown }
  | { readonly ok: false; readonly refusal: Refusal };

/**
 * Decides about the call of one request.
 *
 * @returns the copy of the arguments that was checked, for the tool to use
 */
export async function decideCall<Request>(
  behest: Behest,
  route: ToolRoute<Request>,
  { request, authorization, body }: { request: Request; authorization: string | undefined; body: unknown },
): Promise<DecidedCall> {
  const grantToken = bearerToken(authorization);
  if (!grantToken) {
    return { ok: false, refusal: unauthorized('TOKEN_MISSING', 'The request has no bearer token.', []) };
  }
  const { connector, tool } = route;
  const args = route.arguments ? route.arguments(request) : (body ?? {});
  const copied = copyArguments(args);
  const checked = copied.ok ? copied.value : args;
  const given = {
    ...{ resource: route.resource?.(request), amount: route.amount?.(request) },
    ...{ caseId: route.caseId?.(request), caseVersion: route.caseVersion?.(request) },
    ...{ callId: route.callId?.(request) },
  };
  const result = await behest.enforce({
    ...{ grantToken, connector, tool: typeof tool === 'function' ? tool(request) : tool, arguments: checked },
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  });
  if (result.allowed) return { ok: true, result, arguments: checked };
  return { ok: false, refusal: refusalFor(result) };
}

function refusalFor({ reason, reason_code, sub_reason, details }: Result): Refusal {
  if (reason_code === 'token_invalid' && details.cause === 'keys_unavailable')
    return refusalOf(503, 'KEYS_UNAVAILABLE', reason, { 'retry-after': '30' });
  if (reason_code === 'token_invalid')
    return unauthorized(details.cause === 'expired' ? 'TOKEN_EXPIRED' : 'TOKEN_INVALID', reason, []);
  const refusal = refusalOf(403, 'TOOL_DENIED', reason, {});
  return { ...refusal, body: { ...refusal.body, reason_code: String(reason_code), sub_reason, details } };
}
