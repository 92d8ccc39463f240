import { entryOnly } from '../../../platform/acts.ts';

export const entries = {
  'consent.verification_failed': entryOnly(),
};

declare module '../../../platform/acts.ts' {
  interface Attempts {
    'consent.verification_failed': true;
  }
}
