export { legacySettings } from './verifiable-credentials.settings.ts';
export { type CredentialDeps, issuedAct, signCredential } from './verifiable-credentials.sign.service.ts';
