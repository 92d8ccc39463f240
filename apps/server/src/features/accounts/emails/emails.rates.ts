import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  emailVerify: {
    perMinute: 5,
    describes: '`POST /v1/signup/verify`, by developer',
    counts: [{ by: 'developer' }],
  },
  mailRecipient: {
    perHour: 5,
    describes: 'links and codes mailed to an address, by that address, whichever developer sends them',
    counts: [{ by: 'recipient' }],
  },
  mailDeveloper: {
    perDay: 200,
    describes: 'links mailed for an account in a day (UTC): to verify an address, to invite and to confirm',
    counts: [{ by: 'developer' }],
  },
  // Or a stranger who has codes sent to a person could keep the person from hearing of changes.
  mailNotice: {
    perHour: 20,
    describes: 'notices of an account to a person whose address is known, by both',
    counts: [{ by: 'recipient' }],
  },
  mailNoticeDaily: {
    perDay: 2000,
    describes: 'notices of an account to people whose addresses are known, in a day (UTC)',
    counts: [{ by: 'developer' }],
  },
});
