import { once } from 'node:events';
import { pino } from 'pino';

const MOST_WAITING = 8 * 1024 * 1024; // bytes; a line of a request has about 200

export interface LogOutput {
  write(line: string): void;
  /** Resolves when every line is written, or cannot be. No line is written afterwards. */
  close(): Promise<void>;
}

interface LogOutputOptions {
  /** A file in place of stdout. */
  readonly dest?: string;
  readonly mostWaiting?: number;
  /** Called with the number of lines that had no room, when there is room again. */
  readonly onLost: (lines: number) => void;
}

/**
 * Writes lines off the thread that answers requests, at once and in their order. While a write is under way
 * the next lines wait for it together. A slow or absent reader, or a full disk, costs lines and no answers.
 * An exit that does not wait writes the waiting lines.
 */
export function openLogOutput(options: LogOutputOptions): LogOutput {
  const { dest = 1, mostWaiting = MOST_WAITING, onLost } = options;
  const destination = pino.destination({ dest, sync: false, maxLength: mostWaiting });
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
  return {
    write(line) {
      if (isOpen) destination.write(line);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      if (isBroken) return destination.destroy();
      const closed = once(destination, 'close').catch(() => destination.destroy());
      destination.end();
      await closed;
    },
  };
}
