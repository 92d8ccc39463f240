import { createHash } from 'node:crypto';
import { readPosition } from '@behest/protocol/revocation-statement';
import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction, repeating } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { newId } from '../../../platform/ids.ts';
import { definePart } from '../../../platform/parts.ts';
import { recordActs } from '../../record/audit/index.ts';
import type { CalledWaits } from '../../record/events/index.ts';
import {
  countVerifiers,
  deleteVerifiersBefore,
  findVerifierKey,
  insertVerifier,
  lockRegistration,
  type OwnVerifier,
  renewVerifier,
} from './verifiers.repo.ts';
import type { Lease, NewVerifier, Renewal, Verifier } from './verifiers.schema.ts';

export interface VerifierDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly waits: CalledWaits;
}

/** Revocations that wait for confirmations. */
export const confirmations = definePart<CalledWaits>('the waits for confirmations');

export const MAX_VERIFIERS = 50; // of an account: a statement names each of them
// In seconds.
const LEASE = 30;
/** The service counts a lease as longer than the verifier does, because the clocks of two instances differ. */
const MARGIN = 5;
/** A verifier is forgotten so long after its lease. One that comes back registers again. */
const FORGOTTEN_AFTER = 300;

/** @throws TOO_MANY_CONNECTIONS */
export function registerVerifier(
  deps: VerifierDeps,
  caller: Caller,
  { name, publicKey }: NewVerifier,
): Promise<Verifier> {
  const { tenant } = caller;
  const at = deps.clock();
  const id = newId('vrf', at);
  return inTransaction(deps.db, async (tx) => {
    await lockRegistration(tx, tenant);
    await deleteVerifiersBefore(tx, tenant, new Date(at.getTime() - FORGOTTEN_AFTER * 1000));
    if ((await countVerifiers(tx, tenant)) >= MAX_VERIFIERS) throw tooMany();
    const registeredBy = caller.actor;
    await insertVerifier(tx, tenant, { id, name, publicKey, registeredBy, createdAt: at, leaseUntil: at });
    const data = { verifierId: id, name, keyThumbprint: thumbprintOf(publicKey) };
    await recordActs(tx, caller, [{ type: 'verifier.registered', data }], at);
    return { verifierId: id, name, createdAt: at.toISOString() };
  });
}

/** @see RFC 7638, section 3: the required members in the order of their names */
function thumbprintOf({ crv, kty, x, y }: NewVerifier['publicKey']): string {
  return createHash('sha256').update(JSON.stringify({ crv, kty, x, y })).digest('base64url');
}

function tooMany(): AppError {
  const message = `An account may have ${MAX_VERIFIERS} verifiers. A verifier is forgotten ${FORGOTTEN_AFTER} seconds after its lease.`;
  return new AppError('TOO_MANY_CONNECTIONS', message, { limit: MAX_VERIFIERS, retryAfter: FORGOTTEN_AFTER });
}

/**
 * Renews the lease of a verifier that owes no confirmation. Only the credential that registered the verifier may do so: another
 * could keep the lease of one that has stopped. A position other than the one that is asked for is no confirmation: it was signed before a later
 * revocation.
 * @throws NOT_FOUND, BAD_REQUEST for a text that this verifier has not signed
 */
export async function renewLease(
  { db, clock, waits }: VerifierDeps,
  { tenant, actor }: Caller,
  verifierId: string,
  { position }: Renewal,
): Promise<Lease> {
  const own = { id: verifierId, registeredBy: actor };
  const confirmed = position === undefined ? undefined : await readOwn(db, tenant, own, position);
  const at = clock();
  const leaseUntil = new Date(at.getTime() + (LEASE + MARGIN) * 1000);
  const row = await repeating(db, () => renewVerifier(db, tenant, own, { at, leaseUntil, confirmed }));
  if (!row) throw notFound();
  if (row.isKept) waits.call(tenant.developerId);
  const isOwed = Number(row.positionSeq) < Number(row.askedSeq);
  return isOwed
    ? { leaseSeconds: 0, asked: { seq: Number(row.askedSeq), hash: row.askedHash ?? '' } }
    : { leaseSeconds: LEASE, asked: null };
}

async function readOwn(db: Executor, tenant: Tenant, own: OwnVerifier, position: string) {
  const publicKey = await findVerifierKey(db, tenant, own);
  if (!publicKey) throw notFound();
  const signed = await readPosition(position, publicKey);
  if (signed?.verifierId === own.id) return { ...signed, position };
  throw badField('position', 'signature', 'The key of this verifier has not signed this position for it.');
}
