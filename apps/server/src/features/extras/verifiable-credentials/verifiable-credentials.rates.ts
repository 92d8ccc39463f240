import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  credentialVerify: {
    perMinute: 30,
    describes: 'verifying a credential or a presentation, by client address',
    counts: [{ by: 'address' }],
  },
  presentationEvent: {
    perMinute: 10,
    describes: 'events of presentations, by credential; a presentation beyond is answered, and makes none',
    counts: [{ by: 'credential' }],
  },
  statusList: {
    perMinute: 60,
    describes: 'reading a status list, by client address',
    counts: [{ by: 'address' }],
  },
});
