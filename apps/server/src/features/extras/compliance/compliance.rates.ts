import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  complianceExport: {
    perMinute: 10,
    describes: 'exports and evidence packs, by developer',
    counts: [{ by: 'developer' }],
  },
  complianceHold: {
    perMinute: 30,
    describes: 'placing and releasing legal holds, by developer',
    counts: [{ by: 'developer' }],
  },
});
