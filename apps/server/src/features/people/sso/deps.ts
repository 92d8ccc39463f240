import type { House } from '../../../feature.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import type { MasterKeys } from '../../../platform/envelope.ts';
import type { SealingKeys } from '../../../platform/seal.ts';
import type { OnActivated, OnEnforced, OnIssuerChanged } from './sso.hooks.ts';

/** The parts of the house that single sign-on uses. */
export interface SsoDeps
  extends Pick<
    House,
    'db' | 'aside' | 'store' | 'clock' | 'keyRing' | 'publicBaseUrl' | 'isProduction' | 'quotas'
  > {
  readonly vault: MasterKeys;
  /** The addresses that identity providers may have. */
  readonly upstream: Egress;
  /** The keys of logins under way. */
  readonly stateKeys: SealingKeys;
  readonly sessionSeconds: number;
  /** The largest SAML response, and the largest metadata of a provider, in bytes. */
  readonly responseLimit: number;
  readonly metadataLimit: number;
  readonly allowsPlainLdap: boolean;
  readonly onEnforced: readonly OnEnforced[];
  readonly onActivated: readonly OnActivated[];
  readonly onIssuerChanged: readonly OnIssuerChanged[];
}
