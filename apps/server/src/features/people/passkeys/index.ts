export { beginAssertion, finishAssertion, keepEvidence } from './assert.ts';
export {
  beginCreation,
  beginProof,
  challengeInvalid,
  checkProof,
  getChallenge,
  markSuspect,
  type PasskeyDeps,
  storePasskey,
  takeChallenge,
  useUp,
  verifyingParty,
} from './ceremony.ts';
export { findPasskeyEvidence } from './challenges.repo.ts';
export {
  beginDiscovery,
  beginNaming,
  type DiscoverDeps,
  finishDiscovery,
  finishNaming,
} from './discover.ts';
export {
  advanceCounter,
  deletePasskeyRow,
  deletePasskeyRowsOf,
  listPasskeysOf,
  type PasskeyRow,
} from './passkeys.repo.ts';
export { rates as passkeyRates } from './passkeys.routes.ts';
export { digestOf } from './passkeys.rules.ts';
export { webauthnRelyingParty } from './passkeys.settings.ts';
export { checkRegistration } from './webauthn.ts';
