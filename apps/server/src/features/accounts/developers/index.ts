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
export { lockAccount, lockOpenAccount, setPlan, setVerifiedEmail } from './developers.repo.ts';
export { isRedirectUri, isUsableKey, thumbprintsOf } from './developers.rules.ts';
export { changedMeanwhile, emailUnverified, mustMayLoosen, needsTwo } from './manage.ts';
