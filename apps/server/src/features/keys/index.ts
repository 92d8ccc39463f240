export type { DerivedKeys } from './keys.derivation.rules.ts';
export { keyRoutes } from './keys.routes.ts';
export {
  type KeySettings,
  renamed,
  type SigningAlg,
  type SigningKey,
  type VerificationKey,
  type VerifierKey,
  verificationKey,
  verifySignature,
} from './keys.rules.ts';
export { createKeyRing, type KeyRing, type Signer } from './keys.service.ts';
