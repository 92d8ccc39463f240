import type { Rotation } from '../../../platform/envelope-rotation.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import { rotateProviderKeys } from './providers.rotate.service.ts';

/** While instances restart with a new key, those with the old one may seal under it once more. */
const EVERY_SECONDS = 60;

export function providerRotation(deps: Rotation): Job {
  return {
    name: 'provider rotation',
    everySeconds: EVERY_SECONDS,
    run: (signal) => rotateProviderKeys(deps, signal),
  };
}
