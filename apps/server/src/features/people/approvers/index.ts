export { beginSigning, type CheckedSigning, checkSigning, takeSigning } from './approvers.assert.service.ts';
export type { ApproverDeps } from './approvers.deps.service.ts';
export { holdApprover } from './approvers.manage.service.ts';
export { approverDeps } from './approvers.open.service.ts';
export { rates as approverRates } from './approvers.rates.ts';
export { isAbsentAt, isActiveAt, mailboxOf } from './approvers.rules.ts';
export { approverIn, mustBeFresh } from './approvers.session.service.ts';
export { settings as approverSettings } from './approvers.settings.ts';
export { subOf } from './approvers.show.service.ts';
