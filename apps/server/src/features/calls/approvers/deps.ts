import { integer } from '../../../config/readers.ts';
import { defaulted, type ValuesOf } from '../../../config/setting.ts';
import type { ServiceContext } from '../../../feature.ts';
import type { ChargeRecipient } from '../../../platform/charge.ts';
import type { UrlRules } from '../../../platform/egress/urls.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import { definePart } from '../../../platform/parts.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { type PasskeyDeps, webauthnRelyingParty } from '../../people/passkeys/index.ts';
import { messageUrlRules } from '../../record/webhooks/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';
import { type WebPush, webPush } from './web-push.ts';

export const settings = {
  DECISION_STEP_UP_SECONDS: defaulted(
    integer(60, 86_400),
    '3600',
    'How long after the last use of their passkey an approver may still decide. Afterwards the page asks for the passkey once more, to sign in.',
  ),
};

export interface ApproverDeps extends PasskeyDeps {
  readonly store: EphemeralStore;
  readonly keyRing: KeyRing;
  readonly publicBaseUrl: string;
  readonly quotas: Quotas;
  readonly stepUpSeconds: number;
  readonly urlRules: UrlRules;
  readonly push: WebPush;
  readonly chargeRecipient: ChargeRecipient;
  /** Undefined where the service sends no mail. */
  readonly mailer?: Mailer;
  readonly onMailFailed: () => void;
  readonly logger?: Logger;
}

/** The parts of the process with which approvers are served. */
export const approverParts = definePart<ApproverDeps>('the parts of approvers');

export function approverDeps(context: ServiceContext, chosen: ValuesOf<typeof settings>): ApproverDeps {
  return {
    ...context,
    relyingParty: context.take(webauthnRelyingParty),
    urlRules: context.take(messageUrlRules),
    push: webPush(context.keyRing),
    stepUpSeconds: chosen.DECISION_STEP_UP_SECONDS,
    onMailFailed: () => context.metrics.counter('mail_failed').inc(),
  };
}
