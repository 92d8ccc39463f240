import type { Caller, Tenant } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import { type Executor, inTransaction } from '../../../platform/db/db.ts';
import { recordActs } from '../../record/audit/index.ts';
import { acceptClient, type ProviderRow, refuseClient } from './providers.repo.ts';

interface Deps {
  readonly db: Executor;
  readonly clock: Clock;
}

const CLIENT_REFUSED = 'invalid_client';

/**
 * Notes that the upstream refused the client itself, while it was asked for one person. The developer sees the error at
 * the provider. No session begins any more only after the same at another person: some upstreams say such words of one
 * person's token.
 */
export function noteClientRefused(
  { db, clock }: Deps,
  caller: Caller,
  { id, service }: Pick<ProviderRow, 'id' | 'service'>,
  principalId: string,
): Promise<void> {
  const at = clock();
  return inTransaction(db, async (tx) => {
    const refusal = { principalId, lastError: CLIENT_REFUSED, updatedAt: at };
    if (!(await refuseClient(tx, caller.tenant, id, refusal))) return;
    const data = { providerId: id, service, error: CLIENT_REFUSED };
    await recordActs(tx, caller, [{ type: 'vault.provider.failed', data }], at);
  });
}

/** The upstream takes the client: what it said of it before was about one person. */
export const noteClientAccepted = ({ db }: Deps, tenant: Tenant, id: string): Promise<void> =>
  acceptClient(db, tenant, id);
