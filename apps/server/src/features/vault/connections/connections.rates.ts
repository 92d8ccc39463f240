import { rateRules } from '../../../platform/http/limits/rate-rules.ts';
import { passkeyRates } from '../../people/passkeys/index.ts';

export const rates = rateRules({
  connect: {
    perMinute: 30,
    describes:
      '`/v1/connect/*`, by connect session for the holder of its ticket or cookie; four times as many by client address',
    counts: [{ by: 'resource' }, { by: 'address', factor: 4 }],
  },
  connectCode: {
    perMinute: 5,
    describes:
      'sending and checking a mailed code on the page for connecting accounts, by connect session; 24 times as many by client address',
    counts: [{ by: 'resource' }, { by: 'address', factor: 24 }],
  },
  connectCallback: {
    perMinute: 60,
    describes: 'answers of upstreams that browsers bring back, by client address',
    counts: [{ by: 'address' }],
  },
  connectCreate: {
    perMinute: 30,
    describes: 'making connect sessions with an API key, by developer',
    counts: [{ by: 'developer' }],
  },
  connectAsk: {
    perMinute: 10,
    describes: 'making connect sessions with a grant token, by token',
    counts: [{ by: 'token' }],
  },
  connectWatch: {
    perMinute: 60,
    describes: 'reading connect sessions with a grant token, by token',
    counts: [{ by: 'token' }],
  },
});

/** Counts proofs by passkeys, wherever a person gives them. */
export const assertRate = passkeyRates.assert;
