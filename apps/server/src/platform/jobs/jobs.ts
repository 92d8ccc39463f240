import { type Meter, noMeter } from '../telemetry/meter.ts';
import type { Tracer } from '../telemetry/tracing.ts';

/**
 * Work that every instance does at start and then repeats by the clock. It claims the rows that it works on.
 */
export interface Job {
  readonly name: string;
  /** The time from the end of one run to the beginning of the next. */
  readonly everySeconds: number;
  /** @param signal aborted when the process stops: finish the work in hand, begin no more */
  readonly run: (signal: AbortSignal) => Promise<void>;
}

/** The same job, with a trace for each run. */
export function tracedJob(job: Job, tracer: Tracer): Job {
  return { ...job, run: (signal) => tracer.root(`job ${job.name}`, () => job.run(signal)) };
}

export interface RunningJobs {
  /** Resolves when no job is running. */
  stop(): Promise<void>;
}

/**
 * Runs each job at once, and again after its pause. A run that fails is reported, and does not end the job.
 */
export function startJobs(
  jobs: readonly Job[],
  onFailure: (name: string, error: unknown) => void,
  meter: Meter = noMeter,
): RunningJobs {
  const stopping = new AbortController();
  const loops = jobs.map((job) => loop(job, stopping.signal, onFailure, meter));
  return {
    async stop() {
      stopping.abort();
      await Promise.all(loops);
    },
  };
}

async function loop(
  { name, everySeconds, run }: Job,
  signal: AbortSignal,
  onFailure: (name: string, error: unknown) => void,
  meter: Meter,
): Promise<void> {
  while (!signal.aborted) {
    const startedAt = performance.now();
    const hasFailed = await run(signal).then(
      () => false,
      (error: unknown) => {
        onFailure(name, error);
        return true;
      },
    );
    meter.jobEnded(name, (performance.now() - startedAt) / 1000, hasFailed);
    await pause(everySeconds * 1000, signal);
  }
}

/** Ends early when the process stops. */
function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) return resolve();
    const done = () => {
      clearTimeout(timer);
      signal.removeEventListener('abort', done);
      resolve();
    };
    const timer = setTimeout(done, milliseconds);
    signal.addEventListener('abort', done);
  });
}
