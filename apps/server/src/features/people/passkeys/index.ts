export { beginAssertion, finishAssertion, keepEvidence } from './passkeys.assert.service.ts';
export type { PasskeyDeps } from './passkeys.deps.service.ts';
export { rates as passkeyRates } from './passkeys.rates.ts';
export { digestOf } from './passkeys.rules.ts';
export { deletePasskeysOfPrincipal } from './passkeys.service.ts';
export { passkeySettings, relyingPartyOf } from './passkeys.settings.ts';
