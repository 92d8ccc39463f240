import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  anomalyWrite: {
    perMinute: 30,
    describes: 'detecting anomalies, and writing rules and channels, by developer',
    counts: [{ by: 'developer' }],
  },
  anomalyConfirm: {
    perMinute: 20,
    describes:
      'opening and using a link that asks a recipient of messages about anomalies, by client address',
    counts: [{ by: 'address' }],
  },
  anomalyDaily: {
    perDay: 500,
    describes: 'mails and messages to Slack about anomalies, by account in a day (UTC)',
    counts: [{ by: 'developer' }],
  },
});
