import { onTestFinished } from 'vitest';
import { start } from '../../src/main.ts';

type Line = Readonly<Record<string, unknown>>;

/** The service from its start to its end in this process, with settings as an operator gives them. */
export function startHere(environment: Readonly<Record<string, string>>) {
  const lines: Line[] = [];
  const isReady = Promise.withResolvers<void>();
  const hasExited = Promise.withResolvers<{ code: number; lines: readonly Line[] }>();
  let stop: (() => void) | undefined;
  const write = (text: string) => {
    const line: Line = JSON.parse(text);
    lines.push(line);
    if (line.msg === 'ready') isReady.resolve();
  };
  void start(environment, {
    openOutput: () => ({ write, close: async () => {} }),
    exit: (code) => hasExited.resolve({ code, lines: [...lines] }), // the first, which ends a real process
    watchFailures: () => {}, // one that is not caught fails the run of the tests
    watchSignals: (asked) => {
      stop = asked;
    },
  });
  const exited = hasExited.promise;
  let isOver = false;
  void exited.then(() => {
    isOver = true;
  });
  onTestFinished(async () => {
    if (!isOver) stop?.();
    if (stop) await exited;
  });

  /** @throws what it said, when it ended instead of listening. */
  const ready = () => {
    const ended = exited.then(({ code }) => {
      throw new Error(`The service ended with ${code}: ${JSON.stringify(lines)}`);
    });
    return Promise.race([isReady.promise, ended]);
  };
  /** As by a signal. */
  const signal = () => stop?.();
  return { lines, ready, exited, signal };
}
