import type { Job } from '../../../platform/jobs/jobs.ts';
import { type RotationDeps, rotateKeys } from './credentials.rotate.service.ts';

/** While instances restart with a new key, those with the old one may seal under it once more. */
const EVERY_SECONDS = 60;

export function vaultRotation(deps: RotationDeps): Job {
  return { name: 'vault rotation', everySeconds: EVERY_SECONDS, run: (signal) => rotateKeys(deps, signal) };
}
