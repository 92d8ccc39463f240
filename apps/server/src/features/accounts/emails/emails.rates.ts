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
});
