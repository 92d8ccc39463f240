import type { ValuesOf } from '../../../config/setting.ts';
import type { House } from '../../../feature.ts';
import { type passkeySettings, relyingPartyOf } from '../../people/passkeys/index.ts';
import type { settings } from './approvers.settings.ts';
import type { ApproverDeps } from './deps.ts';

/** The parts of the process with which approvers are served. */
export function approverDeps(
  house: House,
  chosen: ValuesOf<typeof settings & typeof passkeySettings>,
): ApproverDeps {
  return {
    ...house,
    relyingParty: relyingPartyOf(chosen, house.publicBaseUrl),
    stepUpSeconds: chosen.DECISION_STEP_UP_SECONDS,
    onMailFailed: () => house.metrics.counter('mail_failed').inc(),
  };
}
