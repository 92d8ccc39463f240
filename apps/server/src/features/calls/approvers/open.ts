import type { ValuesOf } from '../../../config/setting.ts';
import type { House } from '../../../feature.ts';
import { definePart } from '../../../platform/parts.ts';
import { webauthnRelyingParty } from '../../people/passkeys/index.ts';
import type { settings } from './approvers.settings.ts';
import type { ApproverDeps } from './deps.ts';

/** The parts of the process with which approvers are served. */
export const approverParts = definePart<ApproverDeps>('the parts of approvers');

export function approverDeps(house: House, chosen: ValuesOf<typeof settings>): ApproverDeps {
  return {
    ...house,
    relyingParty: house.take(webauthnRelyingParty),
    stepUpSeconds: chosen.DECISION_STEP_UP_SECONDS,
    onMailFailed: () => house.metrics.counter('mail_failed').inc(),
  };
}
