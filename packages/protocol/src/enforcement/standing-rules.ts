import type { Call } from './call.ts';
import { deny } from './deny.ts';
import type { GivenArguments } from './given-arguments.ts';
import type { RequestedCall } from './grant-checks.ts';
import type { MaybePromise, StandingRules } from './ports.ts';
import type { Denial } from './reasons.ts';

/** After check 11a and before the decision: a call that a policy denies holds no decision and costs no unit. */
export function ruledOut(
  policies: StandingRules,
  { connector, tool, declared }: RequestedCall,
  { call, args }: { readonly call: Call; readonly args: GivenArguments },
): MaybePromise<Denial | undefined> {
  const copied = args.areGiven ? args.forRules() : undefined;
  const ruling = policies.check({
    connector,
    tool,
    permission: declared.permission,
    resource: call.resource,
    arguments: copied?.ok ? copied.value : undefined,
  });
  return ruling instanceof Promise ? ruling.then(denialBy) : denialBy(ruling);
}

const denialBy = (ruled: { readonly policyId: string } | undefined): Denial | undefined =>
  ruled && deny('tool_not_granted', 'policy_denied', { policy_id: ruled.policyId });
