import { timingSafeEqual } from 'node:crypto';
import { JsonError, parseJson } from '@behest/protocol/json';
import { type Caller, systemCaller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import { hashOf, isSameText } from '../../../platform/ids.ts';
import { findCallerParts } from '../../accounts/developers/developers.queries.ts';
import { recordBlockedAttempt } from '../../record/audit/index.ts';
import { applySignal, type EffectDeps } from './effect.ts';
import { isSigned } from './keys.ts';
import type { SignalDeps } from './manage.ts';
import { findSourceAcrossTenants, type SourceRow } from './signals.repo.ts';
import { readSignal, type Signal } from './signals.rules.ts';

export type ReceiveDeps = SignalDeps & EffectDeps;

interface Sent {
  readonly connectionId: string;
  readonly set: string;
  readonly authorization: string | undefined;
  readonly requestId: string;
  /** Charges the connection. A stranger, who has shown no secret, is charged by address alone. */
  readonly charge: () => Promise<void>;
}

/** RFC 8935, section 2.4, and OpenID Shared Signals Framework 1.0. */
type SetError =
  | 'invalid_request'
  | 'invalid_key'
  | 'invalid_issuer'
  | 'invalid_audience'
  | 'invalid_state'
  | 'authentication_failed';

const refusal = (err: SetError, message: string) => new AppError('BAD_REQUEST', message, { err });

const SKEW_SECONDS = 60;
const OLDEST_SECONDS = 7 * 86_400;
const NOBODYS = hashOf('');

/**
 * Takes a signal of a connection's identity provider, and does what it asks in one transaction.
 * @throws BAD_REQUEST with the error of RFC 8935, SERVICE_UNAVAILABLE
 */
export async function receiveSignal(deps: ReceiveDeps, sent: Sent): Promise<void> {
  const source = await findSourceAcrossTenants(deps.db, sent.connectionId);
  const shownHash = hashOf(sent.authorization ?? '');
  const isShown = timingSafeEqual(shownHash, source?.secretHash ?? NOBODYS); // the time is that of an unknown source
  const parts = source && (await findCallerParts(deps.db, source));
  const isPushed = source?.delivery === 'push' && (!source.requiresHeader || isShown);
  if (!source || !parts || !isPushed) {
    throw refusal('authentication_failed', 'This `Authorization` is not the one of a transmitter here.');
  }
  await sent.charge();
  await takeSet(deps, callerFor(source, parts, sent.requestId), source, sent.set);
}

/** The provider of a connection, as the caller of what its signals do. */
export const callerFor = (
  { developerId, connectionId }: SourceRow,
  parts: Pick<Caller, 'mode' | 'plan'>,
  requestId: string,
): Caller => ({
  ...systemCaller({ developerId }, parts, requestId),
  ...{ actor: `idp:${connectionId}`, role: 'runtime' },
});

/** Does what a token of the source's transmitter asks. @throws BAD_REQUEST with the error of RFC 8935, SERVICE_UNAVAILABLE */
export async function takeSet(
  deps: ReceiveDeps,
  caller: Caller,
  source: SourceRow,
  set: string,
): Promise<void> {
  try {
    const signal = await verified(deps, source, set);
    mustBeMeant(deps, source, signal);
    await applySignal(deps, caller, source, signal);
  } catch (error) {
    const err = setErrorOf(error);
    if (err !== undefined) await recordRefusal(deps, caller, source, err);
    throw error;
  }
}

/** @returns undefined for an error that says nothing of the token */
export function setErrorOf(error: unknown): string | undefined {
  const err = error instanceof AppError ? error.details?.err : undefined;
  return err === undefined ? undefined : String(err);
}

/** Checks the header and the signature of a SET (RFC 8417). */
async function verified(deps: ReceiveDeps, { jwksUri }: SourceRow, set: string): Promise<Signal> {
  const { typ, kid, ...header } = partOf(set, 0);
  const hasMore = Object.keys(header).join() !== 'alg';
  if (typ !== 'secevent+jwt' || typeof kid !== 'string' || hasMore || set.split('.').length !== 3) {
    throw refusal('invalid_request', 'The header has to be `alg`, `kid` and `typ`, which is `secevent+jwt`.');
  }
  const signal = readSignal(partOf(set, 1));
  if (!signal) {
    throw refusal(
      'invalid_request',
      'The token has to have `iss`, `aud`, `iat`, `jti` and one event, and no `sub` or `exp`.',
    );
  }
  if (await isSigned(deps, jwksUri, { set, kid })) return signal;
  throw refusal('invalid_key', 'No key of the transmitter has signed the token.');
}

/** A part of a token, which nobody has verified yet. Empty where it is no JSON. */
function partOf(set: string, index: 0 | 1): Readonly<Record<string, unknown>> {
  try {
    return Object(parseJson(Buffer.from(set.split('.')[index] ?? '', 'base64url')));
  } catch (error) {
    if (error instanceof JsonError) return {};
    throw error;
  }
}

/** Refuses a signal of another transmitter or for another audience, an old one, and an answer to no question of ours. */
function mustBeMeant({ clock }: ReceiveDeps, source: SourceRow, signal: Signal): void {
  if (signal.iss !== source.transmitter) {
    throw refusal('invalid_issuer', 'The issuer is not the transmitter of this connection.');
  }
  if (!signal.audiences.includes(source.audience)) {
    throw refusal('invalid_audience', 'The audience is not the one of this connection.');
  }
  const now = Math.floor(clock().getTime() / 1000);
  if (signal.iat > now + SKEW_SECONDS || signal.iat < now - OLDEST_SECONDS) {
    throw refusal('invalid_request', 'The token is older than 7 days, or from the future.');
  }
  const { state } = signal.said;
  const isOurs = state === undefined || isSameText(String(state), source.verificationState ?? '');
  if (signal.event.endsWith('/verification') && !isOurs) {
    throw refusal('invalid_state', 'The service has asked for no verification with this state.');
  }
}

function recordRefusal(
  { db, clock }: ReceiveDeps,
  caller: Caller,
  { connectionId }: SourceRow,
  reason: string,
): Promise<void> {
  const data = { connectionId, reason };
  const attempt = { action: 'signal.refused', about: {}, data } as const;
  return inTransaction(db, (tx) => recordBlockedAttempt(tx, caller, attempt, clock()));
}
