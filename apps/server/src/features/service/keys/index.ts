export type { DerivedKeyUse } from './keys.derivation.rules.ts';
export { identityMethod } from './keys.did.rules.ts';
export type { ServiceDidDeps } from './keys.documents.service.ts';
export { type PublicKeyLife, serviceDid } from './keys.history.service.ts';
export { lookAtKeys } from './keys.look.service.ts';
export { multibase, readMultikey } from './keys.multikey.rules.ts';
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
export { createKeyRing, type KeyRing } from './keys.service.ts';
export { signDetached, signSet, signToken } from './keys.sign.service.ts';
