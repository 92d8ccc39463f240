export { findKeyCaller } from './api-keys.ts';
export {
  accountClosed,
  consentModeChosen,
  deploymentCounts,
  keyBound,
  type OnAccountClosed,
  type OnConsentMode,
  type OnKeyBound,
} from './developers.hooks.ts';
export { rates } from './developers.rates.ts';
export { thumbprintsOf } from './developers.rules.ts';
export { emailUnverified } from './developers.ts';
export { lockAccount, lockOpenAccount, setPlan, setVerifiedEmail } from './email.ts';
export { isUsableKey } from './public-keys.rules.ts';
export { isRedirectUri } from './redirect-uris.rules.ts';
