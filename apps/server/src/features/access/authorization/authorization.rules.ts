import { asciiJson } from '@behest/protocol/ascii-json';
import { issuedDetails, readRequestedDetails, type ToolsEntry } from '@behest/protocol/authorization-details';
import { MAX_PAYLOAD_BYTES } from '@behest/protocol/claims';
import { parseDuration } from '@behest/protocol/durations';
import { canHavePurpose, isPurpose } from '@behest/protocol/purposes';
import { distinctScopes, isScope, scopesFit, uncovered } from '@behest/protocol/scopes';
import { AppError, badField, malformedScopes } from '../../../platform/errors.ts';
import type { NewRequest, RequestStatus } from './authorization.schema.ts';

/** How long an authorization code is good, from the approval (RFC 6749 §4.1.2 recommends 10 minutes at most). */
export const CODE_SECONDS = 600;
/** A code that was tried with this many wrong verifiers is void: whoever guesses has no more guesses. */
export const MAX_WRONG_VERIFIERS = 5;

const SHORTEST = 60; // seconds, of a grant, of a token and of an open request
const LONGEST_OPEN = 86_400; // seconds that a request may wait for its person

/** What a request asks for, read and found acceptable. */
export interface AcceptedRequest {
  readonly scopes: string[];
  readonly purpose: string | undefined;
  readonly details: ToolsEntry[];
  readonly tokenSeconds: number;
  readonly openSeconds: number;
}

export interface Lifetimes {
  readonly maxGrantLifetimeSeconds: number;
  readonly maxTtlSeconds: number;
}

/** @throws BAD_REQUEST, INVALID_SCOPE, INVALID_PURPOSE */
export function acceptRequest(input: NewRequest, limits: Lifetimes): AcceptedRequest {
  const { codeChallenge, codeChallengeMethod, purpose } = input;
  if (codeChallenge && !codeChallengeMethod) throw badField('codeChallengeMethod', 'required');
  if (codeChallengeMethod && !codeChallenge) throw badField('codeChallenge', 'required');
  if (input.authorizationDetails && input.authorization_details) {
    throw badField('authorization_details', 'not_allowed', 'Send one of the two names only.');
  }
  boundedSeconds('expiresIn', input.expiresIn, limits.maxGrantLifetimeSeconds);
  const { tokenExpiresIn } = input;
  const tokenSeconds = tokenExpiresIn
    ? boundedSeconds('tokenExpiresIn', tokenExpiresIn, limits.maxTtlSeconds)
    : limits.maxTtlSeconds;
  const openSeconds = boundedSeconds('consentExpiresIn', input.consentExpiresIn, LONGEST_OPEN);

  const scopes = acceptTokenScopes(input.scopes);
  if (purpose !== undefined && !(isPurpose(purpose) && canHavePurpose(scopes))) {
    const message = 'Send a known purpose or `x-<org>.<term>`, with a scope `tool:<connector>:<permission>`.';
    throw new AppError('INVALID_PURPOSE', message, { purpose });
  }
  const alias = input.authorization_details;
  const field = alias ? 'authorization_details' : 'authorizationDetails';
  const read = readRequestedDetails(input.authorizationDetails ?? alias ?? [], scopes, field);
  if (!read.ok) {
    throw new AppError('BAD_REQUEST', 'The authorization details are not valid.', { fields: read.faults });
  }
  const details = issuedDetails(purpose, scopes, read.entries);
  mustFitToken(input, scopes, details);
  return { scopes, purpose, details, tokenSeconds, openSeconds };
}

/** Of a token's payload, what its ids, its issuer and ten agents that pass it on can take. */
const RESERVED_BYTES = 4096;

/** A token that is too long for those who verify it must not come to be asked for. @throws BAD_REQUEST */
function mustFitToken({ principalId, audience }: NewRequest, scopes: string[], details: ToolsEntry[]): void {
  const scope = scopes.join(' ');
  const asked = { sub: principalId, aud: audience, scp: scopes, scope, authorization_details: details };
  if (asciiJson(asked).length > MAX_PAYLOAD_BYTES - RESERVED_BYTES) {
    throw badField('scopes', 'too_long', 'All of this does not fit into a token; ask for less at once.');
  }
}

/** @throws BAD_REQUEST: what is outside is refused, never cut. */
export function boundedSeconds(field: string, duration: string, longest: number): number {
  const seconds = parseDuration(duration);
  if (seconds === undefined) throw badField(field, 'format');
  if (seconds < SHORTEST) throw badField(field, 'too_small');
  if (seconds > longest) throw badField(field, 'too_large');
  return seconds;
}

/** @throws INVALID_SCOPE for what is outside the grammar, BAD_REQUEST for more than a token can hold. */
export function acceptTokenScopes(scopes: readonly string[]): string[] {
  const wrong = scopes.filter((scope) => !isScope(scope));
  if (wrong.length > 0) throw malformedScopes(wrong);
  const distinct = distinctScopes(scopes);
  if (!scopesFit(distinct)) throw badField('scopes', 'too_long');
  return distinct;
}

/** @throws INVALID_SCOPE naming what reaches further than the ceiling. */
export function mustBeWithin(ceiling: readonly string[], scopes: readonly string[]): void {
  const outside = uncovered(ceiling, scopes);
  if (outside.length > 0) {
    throw new AppError('INVALID_SCOPE', 'Some scopes reach further than they may.', { scopes: outside });
  }
}

interface RequestTimes {
  readonly status: 'pending' | 'approved' | 'denied' | 'cancelled' | 'consumed' | 'expired';
  readonly expiresAt: Date;
  readonly codeExpiresAt: Date | null;
}

/** That nobody did anything in time follows from the clock, whether or not it has been noted yet. */
export function statusAt({ status, expiresAt, codeExpiresAt }: RequestTimes, now: Date): RequestStatus {
  if (status === 'pending' && expiresAt <= now) return 'expired';
  if (status === 'approved' && codeExpiresAt && codeExpiresAt <= now) return 'expired';
  return status;
}

/** @see RFC 6749 §4.1.2 and RFC 9207, which adds `iss` so that a client knows who answers. */
export function redirectTo(
  redirectUri: string,
  answer: Readonly<Record<string, string | undefined>>,
): string {
  const members = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) members.append(name, value);
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${members}`;
}
