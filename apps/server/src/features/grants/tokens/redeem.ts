import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { holdPrincipal } from '../../../platform/db/principals.ts';
import { holdAgentStanding } from '../../accounts/agents/agents.queries.ts';
import { holdStatusPlace } from '../../extras/verifiable-credentials/verifiable-credentials.queries.ts';
import { prepareActs, recordActs } from '../../record/audit/index.ts';
import { holdRequest } from '../authorization/authorization.queries.ts';
import { holdDelegations, revokeGrantsWithin } from '../grants/index.ts';
import { listReplaced } from './replace.repo.ts';
import { type Redemption, type RedemptionRefusal, redeemCode } from './tokens.repo.ts';

interface RedeemDeps {
  readonly db: Executor;
}

/** An exchange that is ready to be written. */
interface Redeeming {
  readonly write: Omit<Redemption, 'records'>;
  readonly acts: readonly Act[];
}

/**
 * Writes the grant of an exchange, and ends the grant that it replaces.
 * @param replacesGrantId as the request names it; null for none
 * @returns why nothing was written, or null
 */
export function redeem(
  deps: RedeemDeps,
  caller: Caller,
  { replacesGrantId, ...redeeming }: Redeeming & { readonly replacesGrantId: string | null },
  at: Date,
): Promise<RedemptionRefusal> {
  if (replacesGrantId !== null) return redeemReplacing(deps, caller, redeeming, { replacesGrantId, at });
  const records = prepareActs(caller, redeeming.acts, at);
  return redeemCode(deps.db, caller.tenant, at, { ...redeeming.write, records });
}

/** Rolls back what ended before the exchange was refused. */
class Lost extends Error {
  readonly refusal: RedemptionRefusal;

  constructor(refusal: RedemptionRefusal) {
    super('An exchange that replaces a grant was refused.');
    this.refusal = refusal;
  }
}

/**
 * One transaction ends the replaced grant with all that was delegated from it, and writes the new one. A grant that has
 * ended by itself or by a revocation stays as it is. Locks are taken in the order of revocations: the agent, the turn
 * with delegations, the principal, and then those of an exchange.
 */
function redeemReplacing(
  { db }: RedeemDeps,
  caller: Caller,
  { write, acts }: Redeeming,
  { replacesGrantId, at }: { readonly replacesGrantId: string; readonly at: Date },
): Promise<RedemptionRefusal> {
  const { tenant } = caller;
  const { grant, credential } = write;
  return inTransaction(db, async (tx) => {
    await holdAgentStanding(tx, tenant, grant.agentId);
    await holdDelegations(tx, caller);
    await holdPrincipal(tx, tenant, grant.principalId);
    await holdRequest(tx, tenant, grant.authRequestId ?? '');
    if (credential) await holdStatusPlace(tx, tenant, credential, at);
    const replaced = await listReplaced(tx, tenant, replacesGrantId, at);
    const ended = await revokeGrantsWithin(tx, caller, replaced, { reason: 'superseded' }, at);
    const lost = await redeemCode(tx, tenant, at, { ...write, records: prepareActs(caller, [], at) });
    if (lost) throw new Lost(lost);
    await recordActs(tx, caller, [...ended, ...acts], at); // a tree may have more acts than one statement takes
    return null;
  }).catch((error: unknown) => {
    if (error instanceof Lost) return error.refusal;
    throw error;
  });
}
