import { credentialRates } from '../verifiable-credentials/index.ts';

/** Shared with the other statements that anybody verifies. */
export const verifyRate = credentialRates.credentialVerify;
