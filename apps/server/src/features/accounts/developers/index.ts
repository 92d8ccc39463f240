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
export { isRedirectUri, isUsableKey, thumbprintsOf } from './developers.rules.ts';
export { lockAccount, lockOpenAccount, setPlan, setVerifiedEmail } from './lock.ts';
export { emailUnverified } from './manage.ts';
