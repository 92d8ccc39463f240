export { rates as approverRates } from './approvers.rates.ts';
export { isAbsentAt, isActiveAt, isAssured, mailboxOf } from './approvers.rules.ts';
export { beginSigning, type CheckedSigning, checkSigning, takeSigning } from './assert.ts';
export { isSignedIn } from './authenticate.ts';
export type { ApproverDeps } from './deps.ts';
export { holdApprover } from './manage.ts';
export { approverParts } from './open.ts';
export { approverIn, mustBeFresh } from './session.ts';
export { subOf } from './show.ts';
