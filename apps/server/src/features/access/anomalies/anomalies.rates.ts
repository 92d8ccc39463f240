import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  anomalyWrite: {
    perMinute: 30,
    describes: 'detecting anomalies, and writing rules and channels, by developer',
    counts: [{ by: 'developer' }],
  },
  anomalyDaily: {
    perDay: 500,
    describes: 'mails and messages to Slack about anomalies, by account in a day (UTC)',
    counts: [{ by: 'developer' }],
  },
});
