import { onTestFinished } from 'vitest';
import { start } from '../../src/main.ts';

type Line = Readonly<Record<string, unknown>>;

/** The service in this process, from start to end, with an operator's settings. */
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
    exit: (code) => hasExited.resolve({ code, lines: [...lines] }), // the first call ends a real process
    watchFailures: () => {}, // an uncaught failure fails the test run
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

  /** @throws the output of a service that ended before it listened */
  const ready = () => {
    const ended = exited.then(({ code }) => {
      throw new Error(`The service ended with ${code}: ${JSON.stringify(lines)}`);
    });
    return Promise.race([isReady.promise, ended]);
  };
  /** Does the same as a signal. */
  const signal = () => stop?.();
  return { lines, ready, exited, signal };
}
