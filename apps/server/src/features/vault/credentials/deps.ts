import type { Clock } from '../../../platform/clock.ts';
import type { Executor } from '../../../platform/db/db.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import type { MasterKeys } from '../../../platform/envelope.ts';
import { AppError } from '../../../platform/errors.ts';
import type { Quotas } from '../../../platform/quotas.ts';
import type { OnDisconnected } from './disconnect.ts';

/** The upstream of a deleted credential kept its tokens. */
export interface Unrevoked {
  readonly credentialId: string;
  readonly failure: string;
}

export interface CredentialDeps {
  readonly db: Executor;
  readonly clock: Clock;
  readonly quotas: Quotas;
  readonly vault: MasterKeys;
  /** The addresses that a credential may name for its refresh. */
  readonly upstream: Egress;
  /** The addresses of connected accounts. */
  readonly connected: Egress;
  readonly onDisconnected: readonly OnDisconnected[];
  /** Called with the failure of a revocation at an upstream. */
  readonly onUnrevoked: (facts: Unrevoked) => void;
}

export const differsInCase = () =>
  new AppError(
    'CONFLICT',
    'The principal has a credential of a service whose name differs from this one in case alone.',
    { field: 'service' },
  );
