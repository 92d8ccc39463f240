export { rates as credentialRates } from './verifiable-credentials.rates.ts';
export {
  issuerDid,
  markOf,
  PASSPORT_CREDENTIAL,
  plainCredential,
  type Stating,
  securedClaims,
  uriOf,
} from './verifiable-credentials.rules.ts';
export { actsOfFallen, revokeCredential } from './verifiable-credentials.service.ts';
export { legacySettings } from './verifiable-credentials.settings.ts';
export {
  type CredentialDeps,
  endOf,
  issuedAct,
  newPlace,
  signCredential,
  storeCredential,
} from './verifiable-credentials.sign.service.ts';
export { proofOf } from './verifiable-credentials.status.service.ts';
export {
  type Checked,
  credentialChecker,
  credentialVerifier,
  findPlaced,
  SENTENCES,
} from './verifiable-credentials.verify.service.ts';
