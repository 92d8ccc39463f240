import { readAmount } from '@behest/protocol/amounts';
import { asciiJson } from '@behest/protocol/ascii-json';
import { issuedDetails, readRequestedDetails, type ToolsEntry } from '@behest/protocol/authorization-details';
import { MAX_PAYLOAD_BYTES, MAX_PINS } from '@behest/protocol/claims';
import { parseDuration } from '@behest/protocol/durations';
import { canHavePurpose, isPurpose } from '@behest/protocol/purposes';
import { distinctScopes, isScope, scopesFit, uncovered } from '@behest/protocol/scopes';
import { namedConnectors } from '@behest/protocol/tool-scopes';
import { AppError, badField, malformedScopes } from '../../../platform/errors.ts';
import type { AuthorizationInput, AuthorizationRequestStatus } from './authorization.schema.ts';

/**
 * How long an authorization code is valid after the approval (RFC 6749 §4.1.2 recommends 10 minutes at most).
 */
export const CODE_SECONDS = 600;
/** A code is void after this many wrong verifiers, which limits guesses. */
export const MAX_WRONG_VERIFIERS = 5;

const SHORTEST = 60; // seconds that a grant, a token or an open request lasts
const MAX_OPEN = 86_400; // seconds that a request may wait for its person

/** The contents of a request that passed every check. */
export interface AcceptedRequest {
  readonly scopes: string[];
  readonly purpose: string | undefined;
  readonly details: ToolsEntry[];
  readonly tokenSeconds: number;
  readonly openSeconds: number;
  readonly budget: AcceptedBudget | undefined;
}

/** In billionths of the currency's unit. */
export interface AcceptedBudget {
  readonly initial: string;
  readonly currency: string;
}

export interface Lifetimes {
  readonly maxGrantLifetimeSeconds: number;
  readonly maxTtlSeconds: number;
}

/** @throws BAD_REQUEST, INVALID_SCOPE, INVALID_PURPOSE */
export function acceptRequest(input: AuthorizationInput, limits: Lifetimes): AcceptedRequest {
  const { codeChallenge, codeChallengeMethod, purpose } = input;
  if (codeChallenge && !codeChallengeMethod) throw badField('codeChallengeMethod', 'required');
  if (codeChallengeMethod && !codeChallenge) throw badField('codeChallenge', 'required');
  if (input.authorizationDetails && input.authorization_details) {
    throw badField(
      'authorization_details',
      'not_allowed',
      'Send only one of `authorizationDetails` and `authorization_details`.',
    );
  }
  boundedSeconds('expiresIn', input.expiresIn, limits.maxGrantLifetimeSeconds);
  const { tokenExpiresIn } = input;
  const tokenSeconds = tokenExpiresIn
    ? boundedSeconds('tokenExpiresIn', tokenExpiresIn, limits.maxTtlSeconds)
    : limits.maxTtlSeconds;
  const openSeconds = boundedSeconds('consentExpiresIn', input.consentExpiresIn, MAX_OPEN);

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
  const budget = input.budget && withCurrency(acceptBudget(input.budget));
  return { scopes, purpose, details, tokenSeconds, openSeconds, budget };
}

/** @throws BAD_REQUEST */
export function acceptBudget({ amount, currency }: NonNullable<AuthorizationInput['budget']>): Pick<
  AcceptedBudget,
  'initial'
> & {
  readonly currency: string | undefined;
} {
  const units = readAmount(amount);
  if (units !== undefined) return { initial: String(units), currency };
  throw badField(
    'budget.amount',
    'format',
    'An amount is above zero, at most 999999999999, and has at most nine decimals.',
  );
}

const UNITS_OF_BEFORE = 100_000n; // billionths in a ten-thousandth

/** The columns of a budget. Instances of the release before read ten-thousandths, and give at least what was asked. */
export const budgetColumns = (budget: AcceptedBudget | undefined) => ({
  budgetAmount: budget ? String((BigInt(budget.initial) + UNITS_OF_BEFORE - 1n) / UNITS_OF_BEFORE) : null,
  budgetUnits: budget?.initial ?? null,
  budgetCurrency: budget?.currency ?? null,
});

export interface BudgetColumns {
  readonly budgetAmount: string | null;
  readonly budgetUnits: string | null;
  readonly budgetCurrency: string | null;
}

/** The budget of a stored request, in billionths. */
export function storedBudget({ budgetAmount, budgetUnits, budgetCurrency }: BudgetColumns) {
  if (budgetAmount === null || budgetCurrency === null) return undefined;
  const units = budgetUnits === null ? BigInt(budgetAmount) * UNITS_OF_BEFORE : BigInt(budgetUnits);
  return { units, currency: budgetCurrency };
}

const withCurrency = ({ initial, currency = 'USD' }: ReturnType<typeof acceptBudget>): AcceptedBudget => ({
  initial,
  currency,
});

/** The part of a token's payload that its ids, its issuer and ten delegating agents can take. */
const RESERVED_BYTES = 4096;
/** As long as the hash of a manifest, which the approval decides. */
const HASH = 'x'.repeat(43);

/** Refuses a request whose token would be too long for verifiers. @throws BAD_REQUEST */
function mustFitToken(
  { principalId, audience }: AuthorizationInput,
  scopes: string[],
  details: ToolsEntry[],
): void {
  const scope = scopes.join(' ');
  const pinned = namedConnectors(scopes).slice(0, MAX_PINS);
  const pins = { manifests: Object.fromEntries(pinned.map((connector) => [connector, HASH])) };
  const asked = {
    sub: principalId,
    aud: audience,
    scp: scopes,
    scope,
    authorization_details: details,
    ...pins,
  };
  if (asciiJson(asked).length > MAX_PAYLOAD_BYTES - RESERVED_BYTES) {
    throw badField(
      'scopes',
      'too_long',
      'The request does not fit into a token; send fewer scopes or details.',
    );
  }
}

/** @throws BAD_REQUEST for a duration out of bounds, which is never cut to fit. */
export function boundedSeconds(field: string, duration: string, longest: number): number {
  const seconds = parseDuration(duration);
  if (seconds === undefined) throw badField(field, 'format');
  if (seconds < SHORTEST) throw badField(field, 'too_small');
  if (seconds > longest) throw badField(field, 'too_large');
  return seconds;
}

/** @throws INVALID_SCOPE for malformed scopes, BAD_REQUEST for more scopes than a token can hold. */
export function acceptTokenScopes(scopes: readonly string[]): string[] {
  const wrong = scopes.filter((scope) => !isScope(scope));
  if (wrong.length > 0) throw malformedScopes(wrong);
  const distinct = distinctScopes(scopes);
  if (!scopesFit(distinct)) throw badField('scopes', 'too_long');
  return distinct;
}

/** @throws INVALID_SCOPE naming the scopes that the ceiling does not cover. */
export function mustBeWithin(ceiling: readonly string[], scopes: readonly string[]): void {
  const outside = uncovered(ceiling, scopes);
  if (outside.length > 0) {
    throw new AppError('INVALID_SCOPE', 'Some scopes are not among the allowed scopes; leave them out.', {
      scopes: outside,
    });
  }
}

interface RequestTimes {
  readonly status: 'pending' | 'approved' | 'denied' | 'cancelled' | 'consumed' | 'expired';
  readonly expiresAt: Date;
  readonly codeExpiresAt: Date | null;
}

/** Expiry follows from the clock, whether or not it is recorded yet. */
export function statusAt(
  { status, expiresAt, codeExpiresAt }: RequestTimes,
  now: Date,
): AuthorizationRequestStatus {
  if (status === 'pending' && expiresAt <= now) return 'expired';
  if (status === 'approved' && codeExpiresAt && codeExpiresAt <= now) return 'expired';
  return status;
}

/** @see RFC 6749 §4.1.2 and RFC 9207, which adds `iss` so that a client knows the issuer. */
export function redirectTo(
  redirectUri: string,
  answer: Readonly<Record<string, string | undefined>>,
): string {
  const members = new URLSearchParams();
  for (const [name, value] of Object.entries(answer)) if (value !== undefined) members.append(name, value);
  return `${redirectUri}${redirectUri.includes('?') ? '&' : '?'}${members}`;
}
