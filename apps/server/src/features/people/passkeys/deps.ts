import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import { AppError } from '../../../platform/errors.ts';
import type { RelyingParty } from './passkeys.settings.ts';

export interface PasskeyDeps {
  readonly db: Executor;
  /** For writes that stand although the request is refused: a used challenge, a suspicion, a failed attempt. */
  readonly aside: Executor;
  readonly clock: Clock;
  /** Undefined where the address of the service serves no passkeys. */
  readonly relyingParty: RelyingParty | undefined;
}

/** As `getRelyingParty`, for ceremonies in which the authenticator has to verify the person in any case. @throws CONFLICT */
export const verifyingParty = (deps: Pick<PasskeyDeps, 'relyingParty'>) =>
  ({ ...getRelyingParty(deps), userVerification: 'required' }) as const;

/** @throws CONFLICT */
export function getRelyingParty({ relyingParty }: Pick<PasskeyDeps, 'relyingParty'>): RelyingParty {
  if (relyingParty) return relyingParty;
  const message =
    'Browsers make no passkeys for the address of this service: an IP address, or one without https. The operator sets PUBLIC_BASE_URL to an https host name, or FIDO_RP_ID and FIDO_ORIGIN.';
  throw new AppError('CONFLICT', message, { setting: 'FIDO_RP_ID' });
}
