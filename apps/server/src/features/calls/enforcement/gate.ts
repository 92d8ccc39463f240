import type { Result } from '@behest/protocol/enforcement/result';
import type { ValuesOf } from '../../../config/setting.ts';
import type { House } from '../../../feature.ts';
import type { GrantHolder } from '../../../platform/caller.ts';
import { manifestLibrary } from '../../grants/manifests/index.ts';
import { ownVerifier } from '../../grants/tokens/index.ts';
import { decisionsAsked } from './enforcement.hooks.ts';
import type { NewCall } from './enforcement.schema.ts';
import type { settings } from './enforcement.settings.ts';
import { enforceCall } from './enforcement.ts';
import { meterOfAgent } from './meter.ts';
import { openMeter, storeOfMeter } from './meters.ts';

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

/** The parts of the house that the engine uses. */
export function enforcementDeps(house: House, chosen: ValuesOf<typeof settings>) {
  const { meter } = openMeter(house, chosen);
  const verifyOwn = ownVerifier({ ...house, ...house.lifetimes });
  const [openDecisions] = house.listenersOf(decisionsAsked);
  const own = { meter, counts: storeOfMeter(chosen), verifyOwn, findLoaded: manifestLibrary() };
  return { ...house, ...own, openDecisions };
}

/** For features that pass calls on. */
export function callGate(house: House, chosen: ValuesOf<typeof settings>): CallGate {
  const deps = enforcementDeps(house, chosen);
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
