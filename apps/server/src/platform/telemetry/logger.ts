import { once } from 'node:events';
import { type DestinationStream, pino } from 'pino';

export type Logger = pino.Logger;
export type LogLevel = 'debug' | 'info' | 'warn' | 'error' | 'fatal';

/**
 * One JSON line per record. The request log lists the members of a request that it shows; headers and bodies
 * never are among them.
 * @see docs/operations.md, Logs
 * @param spanIds the ids of the span that a line is written in, when traces are made
 */
export function createLogger(
  level: LogLevel,
  output: DestinationStream,
  spanIds?: () => object | undefined,
): Logger {
  const options = {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label: string) => ({ level: label }) },
    serializers: { err: errorFacts },
    ...(spanIds && { mixin: () => spanIds() ?? {} }),
  };
  return pino(options, output);
}

/**
 * An error's kind, text and stack, without the members that libraries add to it, such as a query's values.
 */
function errorFacts(error: unknown) {
  if (!(error instanceof Error)) return { message: String(error) };
  const { name, message, stack, cause } = error;
  const code = 'code' in error ? String(error.code) : undefined;
  return { name, code, message, stack, ...(cause instanceof Error && { cause: cause.message }) };
}

const MAX_WAITING = 8 * 1024 * 1024; // bytes; a line of a request has about 200
const ENOUGH = 16_000; // bytes that are written at once, as many as fit into one write, which wakes another thread
const LONGEST_WAIT = 100; // milliseconds

/** pino's numbers for its levels; `error` is the first that an operator has to see even if the process is killed. */
const ERROR = 50;

export interface LogOutput {
  write(line: string): void;
  /** Resolves when every line is written, or cannot be. No line is written afterwards. */
  close(): Promise<void>;
}

interface LogOutputOptions {
  /** A file, or the descriptor of an open one, in place of stdout. */
  readonly dest?: string | number;
  readonly mostWaiting?: number;
  /** Called with the number of lines that had no room, when there is room again. */
  readonly onLost: (lines: number) => void;
}

/**
 * Writes lines off the thread that answers requests, and in their order. Lines wait for each other for a tenth of a
 * second; an error takes them along at once. A slow or absent reader, or a full disk, costs lines and no answers.
 * An exit that does not wait writes the waiting lines.
 */
export function openLogOutput(options: LogOutputOptions): LogOutput {
  const { dest = 1, mostWaiting = MAX_WAITING, onLost } = options;
  const destination = pino.destination({ dest, sync: false, minLength: ENOUGH, maxLength: mostWaiting });
  let lost = 0;
  let isBroken = false;
  destination.on('drop', () => {
    lost += 1;
  });
  destination.on('error', () => {
    isBroken = true; // the next line tries it again
  });
  destination.on('drain', () => {
    isBroken = false;
    if (lost === 0) return;
    const lines = lost;
    lost = 0;
    onLost(lines);
  });

  let isOpen = true;
  let flushing: NodeJS.Timeout | undefined;
  const flush = () => {
    clearTimeout(flushing);
    flushing = undefined;
    destination.flush();
  };
  const output = {
    [Symbol.for('pino.metadata')]: true, // asks pino to set `lastLevel` before each line
    lastLevel: 0,
    write(line: string) {
      if (!isOpen) return;
      destination.write(line);
      if (output.lastLevel >= ERROR) return flush();
      flushing ??= setTimeout(flush, LONGEST_WAIT).unref();
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      clearTimeout(flushing);
      if (isBroken) return destination.destroy();
      const closed = once(destination, 'close').catch(() => destination.destroy());
      destination.end();
      await closed;
    },
  };
  return output;
}
