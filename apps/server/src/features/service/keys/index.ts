export type { DerivedKeyUse } from './derivation.rules.ts';
export { identityMethod, multibase, readMultikey } from './did.rules.ts';
export type { ServiceDidDeps } from './did.ts';
export { type PublicKeyLife, serviceDid } from './did.ts';
export {
  type IdentityKey,
  identityKey,
  type KeySettings,
  type KeyStoreSettings,
  renamed,
  type SigningAlg,
  type SigningKey,
  type VerificationKey,
  verificationKey,
  verifySignature,
} from './keys.rules.ts';
export { createKeyRing, type KeyRing, signDetached, signSet, signStatement, signToken } from './keys.ts';
export { lookAtKeys } from './seal.ts';
