import type { ServiceContext } from '../../../feature.ts';
import type { Egress } from '../../../platform/egress/egress.ts';
import type { MasterKeys } from '../../../platform/envelope.ts';
import { definePart } from '../../../platform/parts.ts';
import type { SealingKeys } from '../../../platform/seal.ts';
import { stateKeysOf } from './flight.ts';
import {
  connectionActivated,
  enforcementBegan,
  issuerChanged,
  type OnActivated,
  type OnEnforced,
  type OnIssuerChanged,
} from './sso.hooks.ts';
import { type SsoSettings, ssoEgress } from './sso.settings.ts';

/** The parts of the service that single sign-on uses. */
export interface SsoDeps
  extends Pick<
    ServiceContext,
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

/** The parts of a process that single sign-on works with. */
export const ssoParts = definePart<SsoDeps>('the parts of single sign-on');

export const ssoDepsOf = (context: ServiceContext, settings: SsoSettings): SsoDeps => ({
  ...context,
  vault: context.keyRing.vault,
  upstream: ssoEgress(context, settings, settings.SSO_METADATA_LIMIT_BYTES),
  stateKeys: stateKeysOf(context.keyRing, settings.SSO_STATE_SECRET),
  sessionSeconds: settings.SSO_SESSION_SECONDS,
  responseLimit: settings.SSO_RESPONSE_LIMIT_BYTES,
  metadataLimit: settings.SSO_METADATA_LIMIT_BYTES,
  allowsPlainLdap: settings.SSO_ALLOW_INSECURE_URLS,
  onEnforced: context.listenersOf(enforcementBegan),
  onActivated: context.listenersOf(connectionActivated),
  onIssuerChanged: context.listenersOf(issuerChanged),
});
