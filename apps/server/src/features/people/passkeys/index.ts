export { beginAssertion, finishAssertion, keepEvidence } from './passkeys.assert.service.ts';
export {
  checkAssertion,
  checkRegistration,
  creationOptions,
  failed as passkeyFailed,
  publicJwk,
  requestOptions,
} from './passkeys.ceremony.service.ts';
export { type PasskeyDeps, verifyingParty } from './passkeys.deps.service.ts';
export { beginDiscovery, takeDiscovery } from './passkeys.discover.service.ts';
export { beginNaming, finishNaming, type NamingDeps } from './passkeys.name.service.ts';
export { rates as passkeyRates } from './passkeys.rates.ts';
export { challengeInvalid } from './passkeys.register.service.ts';
export { digestOf } from './passkeys.rules.ts';
export { deletePasskeysOfPrincipal } from './passkeys.service.ts';
export { passkeySettings, relyingPartyOf } from './passkeys.settings.ts';
