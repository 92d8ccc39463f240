import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { passkeyRates } from '../../people/passkeys/index.ts';

export const rates = rateRules({
  consent: {
    perMinute: 30,
    describes:
      '`/v1/consent/*`, by authorization request for the holder of its ticket or cookie; four times as many by client address',
    counts: [{ by: 'resource' }, { by: 'address', factor: 4 }],
  },
  emailCode: {
    perMinute: 5,
    describes:
      'sending and checking a mailed code, by authorization request for the holder of its cookie; 24 times as many by client address',
    counts: [{ by: 'resource' }, { by: 'address', factor: 24 }],
  },
});

/** Counts proofs by passkeys, wherever a person gives them. */
export const assertRate = passkeyRates.assert;
