import type { Io } from './main.ts';
import { openLogOutput } from './platform/telemetry/logger.ts';

/** The operating system's process: lines go to stdout, and signals stop the service. */
export function processIo(): Io {
  return {
    openOutput: (onLost) => openLogOutput({ onLost }),
    exit: (code) => process.exit(code),
    watchFailures(fail) {
      for (const event of ['uncaughtException', 'unhandledRejection'] as const) process.on(event, fail);
    },
    watchSignals(stop) {
      // These listeners replace those of start.mjs, which wait for nothing.
      for (const signal of ['SIGINT', 'SIGTERM'] as const)
        process.removeAllListeners(signal).on(signal, stop);
    },
  };
}
