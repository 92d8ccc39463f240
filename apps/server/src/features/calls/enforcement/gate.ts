import type { Result } from '@behest/protocol/enforcement/result';
import type { House } from '../../../feature.ts';
import type { GrantHolder } from '../../../platform/caller.ts';
import type { NewCall } from './enforcement.schema.ts';
import { enforceCall, enforcementParts } from './enforcement.ts';
import { meterOfAgent } from './meter.ts';

/** Enforces calls that the service itself makes for an agent. */
export interface CallGate {
  /**
   * Answers whether the call may happen now, as `POST /v1/enforce` does, and records the answer.
   * @param text the text that the arguments were read from
   * @throws SERVICE_UNAVAILABLE when the answer cannot be recorded
   */
  enforce(holder: GrantHolder, call: NewCall, text: string): Promise<Result>;
  /** The call leaves the process, so its units stay charged. A failure is logged. */
  noteSent(holder: GrantHolder, callId: string): Promise<void>;
  /** The call never left the process, so its units are free again. A failure is logged. */
  giveBack(holder: GrantHolder, callId: string): Promise<void>;
}

/** For features that pass calls on. */
export function callGate(house: House): CallGate {
  const deps = house.take(enforcementParts);
  const { meter } = deps;
  const settle = async (settled: Promise<unknown>, message: string) => {
    await settled.catch((err: unknown) => house.logger?.warn({ err }, message));
  };
  return {
    enforce: (holder, input, text) => enforceCall(deps, holder, { input, text }),
    noteSent({ agentId, tenant }, callId) {
      const noted = meterOfAgent(meter, agentId).sent(tenant.developerId, callId);
      return settle(noted, 'the meter was not told that a call was sent');
    },
    giveBack({ agentId, tenant }, callId) {
      const returned = meterOfAgent(meter, agentId).refundUnsent(tenant.developerId, callId);
      return settle(returned, 'the units of a call that was not sent stay charged');
    },
  };
}
