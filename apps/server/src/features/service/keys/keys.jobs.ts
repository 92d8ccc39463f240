import type { Job } from '../../../platform/jobs/jobs.ts';
import { type KeyStoreDeps, keepKeys } from './keys.store.service.ts';

/** Seconds. An instance may not know of a published key for three times as long. */
const EVERY = 10;

export const keyKeeping = (deps: KeyStoreDeps): Job => ({
  name: 'signing_keys',
  everySeconds: EVERY,
  run: () => keepKeys(deps),
});
