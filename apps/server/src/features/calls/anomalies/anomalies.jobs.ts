import type { Job } from '../../../platform/jobs/jobs.ts';
import { type SendDeps, sendMessages } from './anomalies.messages.service.ts';
import { type PeriodicDeps, runDetection } from './anomalies.periodic.service.ts';

export function anomalyDetection(deps: PeriodicDeps, everySeconds: number): Job {
  return { name: 'anomaly detection', everySeconds, run: (signal) => runDetection(deps, signal) };
}

const EVERY_SECONDS = 30;

export function anomalyMessages(deps: SendDeps): Job {
  return {
    name: 'messages about anomalies',
    everySeconds: EVERY_SECONDS,
    async run(signal) {
      while (!signal.aborted && (await sendMessages(deps)) > 0);
    },
  };
}
