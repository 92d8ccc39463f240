import { copyArguments } from '@behest/protocol/arguments/read-arguments';
import type { Result } from '@behest/protocol/enforcement/result';
import type { Behest } from '../behest.ts';
import { provedKey } from '../verify/proved-key.ts';
import { provedIn, type VerifiedGrant } from '../verify/verified-grant.ts';
import {
  bearerToken,
  boundToken,
  type GuardedRequest,
  type ProofRules,
  presentedProof,
  type Refusal,
  refusalOf,
  unauthorized,
  withProofs,
} from './guard.ts';

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
  /**
   * Takes tokens that are bound to keys, with the proof of each request. Behind `requireGrantToken` with such rules it
   * is left out, because a proof is good once.
   */
  readonly dpop?: ProofRules;
}

/** A request as the server of an application hands it over. */
interface Arrived<Request> extends GuardedRequest {
  readonly request: Request;
  /** The header `Authorization`. */
  readonly authorization: string | undefined;
  /** Set by a guard that stands before. */
  readonly grant?: VerifiedGrant | undefined;
  readonly grantToken?: string | undefined;
  readonly body: unknown;
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
  arrived: Arrived<Request>,
): Promise<DecidedCall> {
  const refuse = (refusal: Refusal): DecidedCall => ({
    ok: false,
    refusal: route.dpop ? withProofs(refusal) : refusal,
  });
  const came = await tokenIn(route.dpop, arrived);
  if (came === 'missing')
    return refuse(unauthorized('TOKEN_MISSING', 'The request has no bearer token.', []));
  if (came === 'unproved')
    return refuse(unauthorized('TOKEN_INVALID', 'The proof of the token is not valid here.', []));
  const { request, body } = arrived;
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
    ...{ ...came, connector, tool: typeof tool === 'function' ? tool(request) : tool, arguments: checked },
    ...Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined)),
  });
  if (result.allowed) return { ok: true, result, arguments: checked };
  return refuse(refusalFor(result));
}

type Came = { readonly grantToken: string; readonly provedKey?: string } | 'missing' | 'unproved';

/** The token of a request, and the key that was proved with it. */
async function tokenIn(rules: ProofRules | undefined, arrived: Arrived<unknown>): Promise<Came> {
  const { authorization, grant, grantToken } = arrived;
  const bearer = bearerToken(authorization);
  if (bearer) return { grantToken: bearer };
  const bound = boundToken(authorization);
  if (!bound) return 'missing';
  if (bound === grantToken) return { grantToken: bound, ...provedIn(grant) }; // the guard has checked the proof
  if (!rules) return 'missing';
  const key = await provedKey(presentedProof(rules, arrived), bound, Date.now);
  return key === undefined ? 'unproved' : { grantToken: bound, provedKey: key };
}

function refusalFor({ reason, reason_code, sub_reason, details }: Result): Refusal {
  if (reason_code === 'token_invalid' && details.cause === 'keys_unavailable')
    return refusalOf(503, 'KEYS_UNAVAILABLE', reason, { 'retry-after': '30' });
  if (reason_code === 'token_invalid')
    return unauthorized(details.cause === 'expired' ? 'TOKEN_EXPIRED' : 'TOKEN_INVALID', reason, []);
  const refusal = refusalOf(403, 'TOOL_DENIED', reason, {});
  return { ...refusal, body: { ...refusal.body, reason_code: String(reason_code), sub_reason, details } };
}
