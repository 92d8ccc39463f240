// All in milliseconds. Together two seconds, after which a Redis that hangs counts as away.
const PATIENCE = 1800;
const SWEEP_EVERY = 200;

interface Waiting {
  readonly node: string;
  readonly since: number; // milliseconds of `performance.now()`
  readonly reject: (error: Error) => void;
  isGivenUp: boolean;
}

interface PatienceOptions {
  /** Called for each command that a node has not answered in time. */
  readonly onSilence: (node: string, error: Error) => void;
  /** Called when a node has answered all that was given up. */
  readonly onAnswer: (node: string) => void;
  /** The failure that the caller of a command gets. */
  readonly failureOf: (cause: unknown) => Error;
}

/**
 * Gives up commands that a node does not answer in time. One timer sweeps over all that wait, because a timer
 * for each command costs more than the command.
 * @returns a function that waits for the answer of a command
 */
export function patience({ onSilence, onAnswer, failureOf }: PatienceOptions) {
  const waiting = new Set<Waiting>(); // in the order of their beginning
  const silent = new Map<string, number>(); // nodes, and how many commands were given up
  let timer: NodeJS.Timeout | undefined;
  let sweptAt = 0;

  const sweep = () => {
    const now = performance.now();
    const stoodStill = now - sweptAt > 2 * SWEEP_EVERY;
    sweptAt = now;
    if (stoodStill) return; // this process was the silent one, and the answers may be waiting to be read
    const begun = now - PATIENCE;
    for (const each of waiting) {
      if (each.since > begun) break;
      waiting.delete(each);
      each.isGivenUp = true;
      silent.set(each.node, (silent.get(each.node) ?? 0) + 1);
      const error = new Error(`Redis has not answered for ${PATIENCE} ms.`);
      onSilence(each.node, error);
      each.reject(failureOf(error));
    }
    if (waiting.size > 0) return;
    clearInterval(timer);
    timer = undefined;
  };

  const end = (each: Waiting) => {
    waiting.delete(each);
    if (!each.isGivenUp) return;
    const left = (silent.get(each.node) ?? 0) - 1;
    if (left > 0) return void silent.set(each.node, left);
    silent.delete(each.node);
    onAnswer(each.node);
  };

  return <T>(node: string, command: () => Promise<T>): Promise<T> => {
    // One command has waited in vain, so the others need not. They are not sent, so the connection notices the
    // silence.
    if (silent.has(node)) return Promise.reject(failureOf(new Error('Redis does not answer.')));
    return new Promise((resolve, reject) => {
      const each: Waiting = { node, since: performance.now(), reject, isGivenUp: false };
      waiting.add(each);
      if (!timer) {
        sweptAt = each.since;
        timer = setInterval(sweep, SWEEP_EVERY).unref();
      }
      command().then(
        (answer) => {
          end(each);
          resolve(answer);
        },
        (error: unknown) => {
          end(each);
          reject(failureOf(error));
        },
      );
    });
  };
}
