export {
  type CredentialDeps,
  endOf,
  issuedAct,
  newPlace,
  signCredential,
  storeCredential,
} from './sign.ts';
export { proofOf } from './status.ts';
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
export { legacyClaims } from './verifiable-credentials.settings.ts';
export { revokeCredential } from './verifiable-credentials.ts';
export {
  type Checked,
  credentialChecker,
  credentialVerifier,
  findPlaced,
  SENTENCES,
} from './verify.ts';
