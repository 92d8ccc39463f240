import { rateRules } from '../../../platform/http/limits/rate-rules.ts';

export const rates = rateRules({
  assert: {
    perMinute: 20,
    describes:
      'proving a person by a passkey, by authorization request or connect session for the holder of its cookie, and by client address',
    counts: [{ by: 'resource' }, { by: 'address' }],
  },
});
