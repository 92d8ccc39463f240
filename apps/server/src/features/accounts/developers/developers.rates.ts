import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  signup: {
    perMinute: 30,
    describes: '`POST /v1/signup`, and opening and using a mailed link, by client address',
    counts: [{ by: 'address' }],
  },
  signupHourly: {
    perHour: 60,
    describes: '`POST /v1/signup`, by client address, in addition',
    counts: [{ by: 'address' }],
  },
  branding: {
    perMinute: 10,
    describes: 'changing the branding, by developer',
    counts: [{ by: 'developer' }],
  },
  keys: {
    perMinute: 5,
    describes: 'creating, rotating and revoking API keys, by developer',
    counts: [{ by: 'developer' }],
  },
});
