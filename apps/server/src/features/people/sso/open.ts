import type { House } from '../../../feature.ts';
import { definePart } from '../../../platform/parts.ts';
import type { SsoDeps } from './deps.ts';
import { stateKeysOf } from './keys.ts';
import { connectionActivated, enforcementBegan, issuerChanged } from './sso.hooks.ts';
import { type SsoSettings, ssoEgress } from './sso.settings.ts';

/** The parts of a process that single sign-on works with. */
export const ssoParts = definePart<SsoDeps>('the parts of single sign-on');

export const ssoDepsOf = (house: House, settings: SsoSettings): SsoDeps => ({
  ...house,
  vault: house.keyRing.vault,
  upstream: ssoEgress(house, settings, settings.SSO_METADATA_LIMIT_BYTES),
  stateKeys: stateKeysOf(house.keyRing, settings.SSO_STATE_SECRET),
  sessionSeconds: settings.SSO_SESSION_SECONDS,
  responseLimit: settings.SSO_RESPONSE_LIMIT_BYTES,
  metadataLimit: settings.SSO_METADATA_LIMIT_BYTES,
  allowsPlainLdap: settings.SSO_ALLOW_INSECURE_URLS,
  onEnforced: house.listenersOf(enforcementBegan),
  onActivated: house.listenersOf(connectionActivated),
  onIssuerChanged: house.listenersOf(issuerChanged),
});
