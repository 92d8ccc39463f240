export { revokeCredential } from './issue.ts';
export {
  type CredentialDeps,
  endOf,
  issuedAct,
  legacyClaims,
  newPlace,
  signCredential,
  storeCredential,
} from './sign.ts';
export { proofOf } from './status.ts';
export { rates as credentialRates } from './verifiable-credentials.routes.ts';
export {
  issuerDid,
  markOf,
  PASSPORT_CREDENTIAL,
  plainCredential,
  type Stating,
  securedClaims,
  uriOf,
} from './verifiable-credentials.rules.ts';
export {
  type Checked,
  credentialChecker,
  credentialVerifier,
  findPlaced,
  SENTENCES,
} from './verify.ts';
