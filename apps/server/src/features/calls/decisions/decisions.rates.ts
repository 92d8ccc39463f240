import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { approverRates } from '../approvers/index.ts';

/** Calls of an approver's page, and changes of an account's channels, count with those of approvers. */
export const ofApprovers = approverRates;

export const rates = rateRules({
  decisionMail: {
    perHour: 20,
    describes: 'mails about decisions, by recipient',
    counts: [{ by: 'recipient' }],
  },
  decisionDaily: {
    perDay: 5000,
    describes: 'mails and messages of channels about decisions, by account in a day (UTC)',
    counts: [{ by: 'developer' }],
  },
});
