import type { RuledCall, StandingRules } from '@behest/protocol/enforcement/ports';
import { isScope } from '@behest/protocol/scopes';
import type { Caller } from '../../../platform/caller.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Metrics } from '../../../platform/telemetry/metrics.ts';
import { decideCall, type Explanation } from '../../grants/policies/index.ts';
import type { EnforceableRow } from './enforcement.repo.ts';

export interface PolicyDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly metrics: Metrics;
}

/** The developer's policies as the engine asks them about one call, and why they denied it. */
export function policiesOn(
  deps: PolicyDeps,
  caller: Caller,
  row: EnforceableRow,
): (StandingRules & { readonly denied: () => Explanation | undefined }) | undefined {
  if (row.policiesVersion === '0') return undefined; // no developer's policy was ever written
  let denied: Explanation | undefined;
  return {
    denied: () => denied,
    async check(call) {
      const { agentId, agentDid, principalId, purpose, policiesVersion: version } = row;
      const asked = { operation: 'enforce', agentId, agentDid, principalId, purpose, grant: row } as const;
      const question = { ...asked, scopes: scopesOf(call), call };
      const { effect, explanation } = await decideCall(deps, caller, version, question);
      denied = effect === 'deny' && explanation ? explanation : undefined;
      return denied;
    },
  };
}

/**
 * The scopes that a call uses. The resource of a scope names a tool or the thing acted on, and a call uses both. Without a
 * thing, or with one that no scope can name, every denial for the connector stops the call, whatever its resource.
 */
function scopesOf({ connector, tool, permission, resource }: RuledCall): string[] {
  const whole = `tool:${connector}:${permission}`;
  if (resource === undefined) return [whole];
  const named = [`${whole}:${resource}`, `${whole}:${tool}`];
  return named.every((scope) => isScope(scope) && !scope.endsWith('*')) ? named : [whole];
}
