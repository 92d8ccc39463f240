import { LONGEST_STATE } from '@behest/protocol/shapes';
import { isDatabaseAway } from '../../../platform/db/db.ts';
import { AppError, unavailable } from '../../../platform/errors.ts';
import { toOAuthError } from '../../../platform/oauth-errors.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { redirectTo } from '../../grants/authorization/index.ts';

export interface RefusalDeps {
  readonly issuer: string;
  readonly logger?: Logger;
}

interface Back {
  /** An address that the client has registered. */
  readonly redirectUri: string;
  /** Whether the browser may be sent there although nobody has seen a page of the service yet. */
  readonly isTrusted: boolean;
  readonly state: string | undefined;
}

/**
 * Makes the address at which a client learns why its request failed.
 * @see RFC 6749 §4.1.2.1
 * @throws the refusal with `details.leadsTo`, where a page names the address and the person decides: anybody registers a
 * client with any web address, so a link that only fails would be a link to that address under the service's name
 * (RFC 9700 §4.11.2)
 */
export function refusedTo(
  deps: RefusalDeps,
  error: unknown,
  { redirectUri, isTrusted, state }: Back,
): string {
  const refusal = error instanceof AppError ? error : failed(deps, error);
  const told = toldOf(refusal);
  const kept = (state ?? '').length > LONGEST_STATE ? undefined : state;
  const leadsTo = redirectTo(redirectUri, { ...told, state: kept, iss: deps.issuer });
  if (isTrusted) return leadsTo;
  const details = { ...refusal.details, oauth: told.error, leadsTo };
  throw new AppError(refusal.code, refusal.message, details, refusal.headers);
}

/** A status of 500 cannot travel with a redirect, so the client learns of a failure by its name. */
function failed({ logger }: RefusalDeps, err: unknown): AppError {
  logger?.error({ err }, 'an authorization request failed');
  return isDatabaseAway(err) ? unavailable('db') : new AppError('INTERNAL_ERROR', 'Something went wrong.');
}

/** The authorization endpoint has other names than the token endpoint for a client that may not ask. */
function toldOf(error: AppError): Readonly<Record<'error' | 'error_description', string>> {
  const told = toOAuthError(error);
  const isClientAtFault = error.code === 'AGENT_INACTIVE' || error.code === 'NOT_FOUND';
  return isClientAtFault ? { ...told, error: 'unauthorized_client' } : told;
}
