import type { Act } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import type { Tx } from '../../../platform/db/db.ts';
import { suspendAgentWithin } from '../../accounts/agents/index.ts';
import { countEnded, revokeActiveGrantsOfAgent, revokeGrantWithin } from '../../grants/grants/index.ts';
import type { AlertRow } from './anomalies.alerts.repo.ts';
import type { Response } from './anomalies.builtin.rules.ts';

interface Responding {
  readonly alerts: readonly AlertRow[];
  readonly responseOf: (alert: AlertRow) => Response;
  readonly at: Date;
}

/**
 * Does what the rules of new alerts say, in the transaction that creates the alerts. Agents come first, because a
 * revocation of an agent locks the agent before its grants too.
 * @returns the acts, which the caller records
 */
export async function respond(
  tx: Tx,
  caller: Caller,
  { alerts, responseOf, at }: Responding,
): Promise<{ acts: Act[]; revokedGrants: number }> {
  const acts: Act[] = [];
  const suspended = alerts.filter((alert) => responseOf(alert) === 'suspend_agent');
  for (const agentId of [...new Set(suspended.map((alert) => alert.agentId))].sort()) {
    acts.push(...(await suspendAgentWithin(tx, caller, agentId, at)));
  }
  let revokedGrants = 0;
  for (const alert of alerts.filter((each) => responseOf(each) === 'revoke_grants')) {
    const { id, agentId, grantId } = alert;
    const revoking = { reason: 'anomaly' } as const;
    const revoked = grantId
      ? await revokeGrantWithin(tx, caller, grantId, revoking, at)
      : await revokeActiveGrantsOfAgent(tx, caller, agentId, revoking, at);
    if (revoked.length === 0) continue;
    const data = { alertId: id, revokedGrants: countEnded(revoked) };
    revokedGrants += data.revokedGrants;
    acts.push({ type: 'anomaly.auto_revoked', agentId, ...(grantId && { grantId }), data }, ...revoked);
  }
  return { acts, revokedGrants };
}
