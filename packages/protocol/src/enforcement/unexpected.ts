import { deny } from './deny.ts';
import type { Denial } from './reasons.ts';

const denials = {
  token: () => deny('token_invalid', null, { cause: 'internal' }),
  connector: () => deny('manifest_unknown_tool', 'unknown_connector'),
  tool: () => deny('manifest_unknown_tool', 'unknown_tool'),
  reach: () => deny('tool_not_granted', null),
  region: () => deny('region_mismatch', null),
  amount: () => deny('cap_exceeded', 'invalid_amount'),
  purpose: () => deny('purpose_not_allowed', 'not_matched'),
  arguments: () => deny('tool_not_granted', 'argument_unreadable', { cause: 'internal' }),
  policies: () => deny('tool_not_granted', 'policy_denied', { cause: 'internal' }),
  decision: () => deny('decision_required', 'consume_unavailable'),
  caps: () => deny('cap_exceeded', 'meter_unavailable', { cause: 'unreachable' }),
} satisfies Readonly<Record<string, () => Denial>>;

/** A check of the engine, or a few that share a denial. */
export type Check = keyof typeof denials;

/** The check that a call has come to. */
export interface Progress {
  check: Check;
}

/**
 * Denies a call whose check ended in an unexpected error. A call that cannot be judged is never allowed, and the
 * gateway never has to tell a rejection from a denial.
 */
export function unexpected(check: Check): Denial {
  return denials[check]();
}
