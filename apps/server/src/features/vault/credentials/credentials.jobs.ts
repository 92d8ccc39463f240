import type { Rotation } from '../../../platform/envelope-rotation.ts';
import type { Job } from '../../../platform/jobs/jobs.ts';
import type { CredentialDeps } from './credentials.deps.service.ts';
import { finishDisconnections } from './credentials.disconnect.service.ts';
import { rotateKeys } from './credentials.rotate.service.ts';

/** While instances restart with a new key, those with the old one may seal under it once more. */
const EVERY_SECONDS = 60;

export function vaultRotation(deps: Rotation): Job {
  return { name: 'vault rotation', everySeconds: EVERY_SECONDS, run: (signal) => rotateKeys(deps, signal) };
}

/** A disconnection that a crash cut off ends within a minute. */
const SWEEP_SECONDS = 20;

export function endOfDisconnections(deps: CredentialDeps): Job {
  return {
    name: 'end of disconnections',
    everySeconds: SWEEP_SECONDS,
    run: (signal) => finishDisconnections(deps, signal),
  };
}
