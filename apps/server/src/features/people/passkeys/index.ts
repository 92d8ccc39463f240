export { beginAssertion, finishAssertion, keepEvidence } from './assert.ts';
export {
  checkAssertion,
  checkRegistration,
  creationOptions,
  failed as passkeyFailed,
  publicJwk,
  requestOptions,
} from './ceremony.ts';
export { type PasskeyDeps, verifyingParty } from './deps.ts';
export { beginDiscovery, takeDiscovery } from './discover.ts';
export { beginNaming, finishNaming, type NamingDeps } from './name.ts';
export { rates as passkeyRates } from './passkeys.rates.ts';
export { digestOf } from './passkeys.rules.ts';
export { webauthnRelyingParty } from './passkeys.settings.ts';
export { challengeInvalid } from './register.ts';
