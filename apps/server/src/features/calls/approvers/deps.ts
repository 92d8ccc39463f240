import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { ChargeRecipient } from '../../../platform/mail/charge-recipient.ts';
import type { Mailer } from '../../../platform/mail/mailer.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { Logger } from '../../../platform/telemetry/logger.ts';
import { type PasskeyDeps, verifyingParty } from '../../people/passkeys/index.ts';
import type { KeyRing } from '../../service/keys/index.ts';

export interface ApproverDeps extends PasskeyDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly store: EphemeralStore;
  readonly keyRing: KeyRing;
  readonly publicBaseUrl: string;
  readonly quotas: Quotas;
  readonly stepUpSeconds: number;
  readonly chargeRecipient: ChargeRecipient;
  /** Undefined where the service sends no mail. */
  readonly mailer?: Mailer;
  readonly onMailFailed: () => void;
  readonly logger?: Logger;
}

/** Approvers are verified by their authenticators in each ceremony, whatever principals are asked for. */
export const approverParty = verifyingParty;
