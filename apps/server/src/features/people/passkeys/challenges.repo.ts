import { type Insertable, type Selectable, sql } from 'kysely';
import type { Tenant } from '../../../platform/caller.ts';
import type { Executor, Tx } from '../../../platform/db/db.ts';
import type { PasskeyChallenges } from '../../../platform/db/types.gen.ts';
import { KEPT_MS, MOST_OPEN } from './passkeys.rules.ts';

export type ChallengeRow = Selectable<PasskeyChallenges>;

/**
 * Inserts a challenge, and deletes those that are too many or too old. The caller has locked the principal.
 */
export async function insertChallenge(
  tx: Tx,
  { developerId }: Tenant,
  challenge: Omit<Insertable<PasskeyChallenges>, 'developerId'>,
  at: Date,
): Promise<void> {
  await tx
    .insertInto('passkeyChallenges')
    .values({ ...challenge, developerId })
    .execute();
  const kept = tx
    .selectFrom('passkeyChallenges')
    .select('id')
    .where('developerId', '=', developerId)
    .where('principalId', '=', challenge.principalId)
    .where('usedAt', 'is', null)
    .orderBy('id', 'desc')
    .limit(MOST_OPEN);
  await tx
    .deleteFrom('passkeyChallenges')
    .where('developerId', '=', developerId)
    .where('principalId', '=', challenge.principalId)
    .where('usedAt', 'is', null)
    .where('id', 'not in', kept)
    .execute();
  await tx
    .deleteFrom('passkeyChallenges')
    .where('developerId', '=', developerId)
    .where('expiresAt', '<=', new Date(at.getTime() - KEPT_MS))
    .execute();
}

interface Claim {
  readonly id: string;
  readonly use: ChallengeRow['use'];
  readonly subjectId: string | null;
  /** The person whose challenge it has to be. Registering finds the person by the challenge. */
  readonly principalId?: string;
}

/** An open challenge, for a look at the answer before it is taken. */
export function findChallenge(
  db: Executor,
  { developerId }: Tenant,
  { id, use, subjectId, principalId }: Claim,
  at: Date,
): Promise<ChallengeRow | undefined> {
  const open = db
    .selectFrom('passkeyChallenges')
    .selectAll()
    .where('developerId', '=', developerId)
    .where('id', '=', id)
    .where('use', '=', use)
    .where('subjectId', 'is not distinct from', subjectId)
    .where('usedAt', 'is', null)
    .where('expiresAt', '>', at);
  const own = principalId === undefined ? open : open.where('principalId', '=', principalId);
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
 * @returns whether the passkey is still there and not suspect
 */
export async function insertEvidence(
  tx: Tx,
  { developerId }: Tenant,
  { challengeId, requestId }: { readonly challengeId: string; readonly requestId: string },
): Promise<boolean> {
  const { numInsertedOrUpdatedRows = 0n } = await tx
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
    .executeTakeFirst();
  return numInsertedOrUpdatedRows === 1n;
}
