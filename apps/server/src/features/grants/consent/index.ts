export { eraseRecordsIn, findConsentRecord } from './consent.repo.ts';
export { type Proofs, validHint } from './consent.rules.ts';
export {
  type CodeDeps,
  checkMailedCode,
  ownPageInMail,
  sendMailedCode,
  unknownAddress,
  wrongCode,
} from './email.ts';
export { readNaming, readVouching } from './hint.ts';
export { signOnCookieName } from './session.ts';
export { signInUrl, unproved, verifyPerson } from './verify.ts';
