import type { Logger } from './platform/telemetry/logger.ts';

/**
 * The order of a stop. The parts of one phase end side by side; a phase begins when the one before it is
 * over. `requests` answers requests in flight and ends streams, `jobs` finishes the work in hand, `buffers`
 * writes pending counts, `stores` closes connections, `telemetry` sends the last spans, and `log` writes the
 * last line.
 */
const PHASES = ['requests', 'jobs', 'buffers', 'stores', 'telemetry', 'log'] as const;
type Phase = (typeof PHASES)[number];

export interface Shutdown {
  /** Adds a part, as soon as it has to be ended. */
  add(phase: Phase, end: () => Promise<unknown>): void;
  readonly isStopping: () => boolean;
  /** Stops in order. A second call ends the process at once. */
  readonly stop: () => void;
  /** Stops in order because of an uncaught failure. Only the first is logged. */
  readonly fail: (error: unknown) => void;
}

export interface ShutdownDeps {
  readonly logger: Pick<Logger, 'error' | 'fatal'>;
  /** The time for the whole stop. After it the process ends as it is. */
  readonly timeoutSeconds: number;
  readonly exit: (code: number) => void;
}

export function createShutdown({ logger, timeoutSeconds, exit }: ShutdownDeps): Shutdown {
  const parts: { phase: Phase; end: () => Promise<unknown> }[] = [];
  let current: Phase | undefined;
  let exitCode = 0;

  async function begin(): Promise<void> {
    setTimeout(() => {
      logger.error({ phase: current }, `not stopped within ${timeoutSeconds} seconds: ended as it was`);
      exit(1);
    }, timeoutSeconds * 1000).unref();
    for (const phase of PHASES) {
      current = phase;
      await Promise.all(parts.filter((part) => part.phase === phase).map(endPart));
    }
    exit(exitCode);
  }

  /** A part that fails does not keep the others from ending. */
  async function endPart({ phase, end }: (typeof parts)[number]): Promise<void> {
    try {
      await end();
    } catch (error) {
      exitCode = 1;
      logger.error({ err: error, phase }, 'a part of the service did not end in order');
    }
  }

  const isStopping = () => current !== undefined;
  return {
    isStopping,
    add: (phase, end) => void parts.push({ phase, end }),
    stop() {
      if (isStopping()) return exit(1);
      void begin();
    },
    fail(error) {
      if (exitCode === 0) logger.fatal({ err: error }, 'unforeseen failure');
      exitCode = 1;
      if (!isStopping()) void begin();
    },
  };
}
