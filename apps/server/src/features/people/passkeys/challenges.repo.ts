import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { PasskeyChallenges } from '../../../platform/db/types.gen.ts';
import { isUserVerified, KEPT_MS, MAX_OPEN, type PasskeyOwner } from './passkeys.rules.ts';

export type ChallengeRow = Selectable<PasskeyChallenges>;

/** Inserts a challenge, and deletes those that are too many or too old. The caller has locked the owner. */
export async function insertChallenge(
  tx: Tx,
  { developerId }: Tenant,
  challenge: Omit<Insertable<PasskeyChallenges>, 'developerId'>,
  at: Date,
): Promise<void> {
  const { ownerKind, ownerId } = challenge;
  const kept = tx
    .selectFrom('passkeyChallenges')
    .select('id')
    .where('developerId', '=', developerId)
    .where('ownerKind', '=', ownerKind)
    .where('ownerId', '=', ownerId)
    .where('usedAt', 'is', null)
    .orderBy('id', 'desc')
    .limit(MAX_OPEN - 1);
  await tx
    .with('surplus', (also) =>
      also
        .deleteFrom('passkeyChallenges')
        .where('developerId', '=', developerId)
        .where('ownerKind', '=', ownerKind)
        .where('ownerId', '=', ownerId)
        .where('usedAt', 'is', null)
        .where('id', 'not in', kept),
    )
    .with('swept', (also) =>
      also
        .deleteFrom('passkeyChallenges')
        .where('developerId', '=', developerId)
        .where('expiresAt', '<=', new Date(at.getTime() - KEPT_MS)),
    )
    .insertInto('passkeyChallenges')
    .values({ ...challenge, developerId })
    .execute();
}

export interface Claim {
  readonly id: string;
  readonly ownerKind: PasskeyOwner['ownerKind'];
  /** The person whose challenge it has to be. Registering a principal's passkey finds the person by the challenge. */
  readonly ownerId?: string;
  readonly use: ChallengeRow['use'];
  readonly subjectId?: string;
}

/** An open challenge, for a look at the answer before it is taken. */
export function findChallenge(
  db: Executor,
  { developerId }: Tenant,
  { id, ownerKind, ownerId, use, subjectId }: Claim,
  at: Date,
): Promise<ChallengeRow | undefined> {
  const open = db
    .selectFrom('passkeyChallenges')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('ownerKind', '=', ownerKind)
    .where('use', '=', use)
    .where('subjectId', 'is not distinct from', subjectId ?? null)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', at);
  const own = ownerId === undefined ? open : open.where('ownerId', '=', ownerId);
  return own.executeTakeFirst();
}

/** Takes a challenge, which nobody can take again: one statement, so that one of two takers gets it. */
export async function claimChallenge(
  db: Executor,
  { developerId }: Tenant,
  id: string,
  at: Date,
): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('passkeyChallenges')
    .set({ usedAt: at })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', at)
    .executeTakeFirst();
  return numUpdatedRows === 1n;
}

/** Keeps the assertion over a challenge until the person decides. */
export async function keepAssertion(
  tx: Tx,
  { developerId }: Tenant,
  { id, passkeyId, signed }: { readonly id: string; readonly passkeyId: string; readonly signed: object },
): Promise<void> {
  await tx
    .updateTable('passkeyChallenges')
    .set({ passkeyId, signed: JSON.stringify(signed) })
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .execute();
}

/**
 * Stores the assertion of a challenge as the evidence of an approval.
 * @returns the proof that it gave; undefined when the passkey is gone or suspect
 */
export async function insertEvidence(
  tx: Tx,
  { developerId }: Tenant,
  { challengeId, requestId }: { readonly challengeId: string; readonly requestId: string },
): Promise<object | undefined> {
  const kept = await tx
    .insertInto('passkeyEvidence')
    .columns(['developerId', 'authRequestId', 'passkeyId', 'evidence', 'verifiedAt'])
    .expression(
      tx
        .selectFrom('passkeyChallenges as challenge')
        .innerJoin('passkeys as passkey', (join) =>
          join
            .onRef('passkey.developerId', '=', 'challenge.developerId')
            .onRef('passkey.id', '=', 'challenge.passkeyId'),
        )
        .where('challenge.developerId', '=', developerId)
        .where('passkey.developerId', '=', developerId)
        .where('challenge.id', '=', challengeId)
        .where('challenge.subjectId', '=', requestId)
        .where('passkey.status', '=', 'active')
        .select(['challenge.developerId', 'challenge.subjectId', 'passkey.id'])
        .select([
          sql<string>`challenge.signed`.as('evidence'),
          sql<Date>`challenge.used_at`.as('verifiedAt'),
        ]),
    )
    .returning('evidence')
    .executeTakeFirst();
  return kept && Object(Object(kept.evidence).proof);
}

/** The passkey with which a person approved a request. */
interface PasskeyEvidence {
  /** The id of the passkey with this service. */
  readonly credentialId: string;
  /** Whether the authenticator knew the person, by a fingerprint or a PIN, say. */
  readonly userVerified: boolean;
  readonly verifiedAt: Date;
}

/** @returns undefined for a request that was approved without a passkey */
export async function findPasskeyEvidence(
  db: Executor,
  { developerId }: Tenant,
  requestId: string,
): Promise<PasskeyEvidence | undefined> {
  const found = await db
    .selectFrom('passkeyEvidence')
    .select(['passkeyId', 'evidence', 'verifiedAt'])
    .where('developerId', '=', developerId)
    .where('authRequestId', '=', requestId)
    .executeTakeFirst();
  if (!found) return undefined;
  const { passkeyId: credentialId, evidence, verifiedAt } = found;
  return { credentialId, userVerified: isUserVerified(Object(evidence).proof), verifiedAt };
}
