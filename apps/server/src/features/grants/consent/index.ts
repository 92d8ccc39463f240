export { type CodeDeps, checkMailedCode, sendMailedCode } from './code.ts';
export { type Proofs, standingHint } from './consent.rules.ts';
export { unknownAddress, wrongCode } from './email.ts';
export { readNaming, readVouching } from './hint.ts';
export { signOnCookieName } from './session.ts';
export { signInUrl, unproved, verifyPerson } from './verify.ts';
