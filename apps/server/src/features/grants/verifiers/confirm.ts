import { createHash } from 'node:crypto';
import type { ChainPosition, RevocationClaims, StatedVerifier } from '@behest/protocol/revocation-statement';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { repeating } from '../../../platform/db/db.ts';
import { notFound } from '../../../platform/errors.ts';
import { findEntryOfGrant, findHead } from '../../record/audit/audit.queries.ts';
import { prepareActs, prepareAnnouncement } from '../../record/audit/index.ts';
import { type KeyRing, signStatement } from '../../service/keys/index.ts';
import type { VerifierDeps } from './register.ts';
import {
  askVerifiers,
  findStatement,
  keepStatement,
  listVerifiers,
  type VerifierRow,
} from './verifiers.repo.ts';
import type { RevocationStatement } from './verifiers.schema.ts';

export interface StatementDeps extends VerifierDeps {
  readonly keyRing: KeyRing;
  readonly issuer: string;
  readonly isStopping: () => boolean;
}

/**
 * Asks every verifier of the account to confirm that it accepts a revoked grant no more, waits until each has confirmed
 * or has no lease, and signs who has and who has not. Without a place to wait it signs at once.
 * @throws NOT_FOUND for a grant that is not revoked
 */
export async function stateRevocation(
  deps: StatementDeps,
  caller: Caller,
  grantId: string,
  waitSeconds: number,
): Promise<RevocationStatement> {
  const { db, clock, keyRing, issuer } = deps;
  const { tenant } = caller;
  const [kept, entry, head] = await Promise.all([
    findStatement(db, tenant, grantId),
    findEntryOfGrant(db, tenant, grantId, 'grant.revoked'),
    findPosition(deps, caller),
  ]);
  if (kept?.isComplete) return shown(kept.statement);
  if (!entry) throw notFound();
  const position = kept ? shown(kept.statement).position : head; // what was asked before may be confirmed by now

  const ids = await ask(deps, caller, grantId, position);
  const verifiers = await waitFor(deps, caller, { grantId, position, ids, waitSeconds });

  const at = clock();
  const claims: RevocationClaims = {
    developerId: tenant.developerId,
    grantId,
    entry: { id: entry.id, ...positionOf(entry), timestamp: entry.at.toISOString() },
    position,
    complete: verifiers.every(({ state }) => state !== 'unconfirmed'),
    verifiers,
  };
  const { developerId: dev, ...others } = claims;
  const iat = Math.floor(at.getTime() / 1000);
  const statement = await signStatement(keyRing, 'revocation-statement+jwt', {
    iss: issuer,
    iat,
    dev,
    ...others,
  });
  const count = (state: StatedVerifier['state']) => verifiers.filter((each) => each.state === state).length;
  const data = {
    complete: claims.complete,
    ...{ confirmed: count('confirmed'), lapsed: count('lapsed'), unconfirmed: count('unconfirmed') },
    sha256: createHash('sha256').update(statement).digest('hex'),
  };
  const act = { type: 'revocation.stated', ...subjectOf(entry), grantId, data } as const;
  const row = { grantId, isComplete: claims.complete, statement, statedAt: at };
  await repeating(db, () => keepStatement(db, tenant, row, prepareActs(caller, [act], at)));
  return shown(statement);
}

/** The newest statement about a grant. The caller may see the grant. @throws NOT_FOUND */
export async function showStatement(
  { db }: Pick<StatementDeps, 'db'>,
  { tenant }: Caller,
  grantId: string,
): Promise<RevocationStatement> {
  const kept = await findStatement(db, tenant, grantId);
  if (!kept) throw notFound();
  return shown(kept.statement);
}

type Entry = NonNullable<Awaited<ReturnType<typeof findEntryOfGrant>>>;

const subjectOf = ({ agentId, principalId, ...entry }: Entry) =>
  agentId === null ? {} : concerning({ ...entry, agentId, principalId: principalId ?? '' });

const positionOf = ({ seq, hash }: { readonly seq: string; readonly hash: Buffer }): ChainPosition => ({
  seq: Number(seq),
  hash: hash.toString('hex'),
});

/** The head of the chain, which includes every grant that ended with this one. */
async function findPosition({ db }: StatementDeps, { tenant }: Caller): Promise<ChainPosition> {
  const { seq, hash } = await findHead(db, tenant);
  if (!hash) throw new Error('A revocation left no entry.');
  return positionOf({ seq, hash });
}

/** A verifier that registers later asks after the revocation. @returns the verifiers that are asked */
function ask(
  { db, clock }: StatementDeps,
  caller: Caller,
  grantId: string,
  position: ChainPosition,
): Promise<string[]> {
  const at = clock();
  const type = 'revocation.confirmation_requested';
  const event = prepareAnnouncement(caller, { type, grantId, data: position }, at);
  return repeating(db, () => askVerifiers(db, caller.tenant, position, { at, event }));
}

interface Asked {
  readonly grantId: string;
  readonly position: ChainPosition;
  readonly ids: readonly string[];
  readonly waitSeconds: number;
}

async function waitFor(
  { db, clock, waits, isStopping }: StatementDeps,
  { tenant }: Caller,
  { grantId, position, ids, waitSeconds }: Asked,
): Promise<StatedVerifier[]> {
  using seat = waits.seat(tenant.developerId, grantId);
  const deadline = AbortSignal.timeout(waitSeconds * 1000);
  for (;;) {
    const done = new AbortController();
    // Before the look, so that no confirmation comes unheard between the two.
    const woken = waits.next(tenant.developerId, AbortSignal.any([deadline, done.signal]));
    const rows = ids.length === 0 ? [] : await listVerifiers(db, tenant, ids);
    const stated = rows.map((row) => statedOf(row, position, clock()));
    const isSettled = stated.every(({ state }) => state !== 'unconfirmed');
    if (isSettled || !seat || deadline.aborted || isStopping()) {
      done.abort();
      return stated;
    }
    await woken;
  }
}

function statedOf(row: VerifierRow, { seq }: ChainPosition, now: Date): StatedVerifier {
  const { id: verifierId, name, publicKey, leaseUntil, positionSeq, position, confirmedAt } = row;
  const about = { verifierId, name, publicKey };
  if (position !== null && confirmedAt && Number(positionSeq) >= seq) {
    return { ...about, state: 'confirmed', at: confirmedAt.toISOString(), position };
  }
  return { ...about, state: leaseUntil <= now ? 'lapsed' : 'unconfirmed', at: leaseUntil.toISOString() };
}

/** A statement as answers show it, read from the signed text. */
function shown(statement: string): RevocationStatement {
  const payload = Buffer.from(statement.split('.')[1] ?? '', 'base64url').toString();
  const { grantId, entry, complete, position, verifiers }: RevocationClaims = JSON.parse(payload);
  return {
    grantId,
    revokedAt: entry.timestamp,
    complete,
    position,
    verifiers: verifiers.map(({ verifierId, name, state, at }) => ({ verifierId, name, state, at })),
    statement,
  };
}
