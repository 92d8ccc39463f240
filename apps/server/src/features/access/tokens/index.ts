export { assess, findGenuine, type Known } from './tokens.look-up.service.ts';
export { ownVerifier, type VerifyOwn } from './tokens.verifier.service.ts';
