export { type CodeDeps, checkMailedCode, sendMailedCode } from './consent.code.service.ts';
export { unknownAddress, wrongCode } from './consent.email.service.ts';
export { readNaming, readVouching } from './consent.hint.service.ts';
export { type Proofs, standingHint } from './consent.rules.ts';
export { signOnCookieName } from './consent.session.service.ts';
export { signInUrl, unproved, verifyPerson } from './consent.verify.service.ts';
