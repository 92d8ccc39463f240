import { once } from 'node:events';
import { waitUntil } from '../machine/processes.ts';

/** The turns of a running process's event loop. */
export interface Turns {
  /** @returns milliseconds of processor time of the longest turn since the last call */
  readonly longest: () => Promise<number>;
  readonly close: () => void;
}

/**
 * Runs in the service. A turn ends when `setImmediate` comes round. Processor time of this one thread, and not the clock,
 * so that another process that has the core in between adds nothing.
 */
const WATCH = `
  globalThis.longestTurn = 0;
  let last = process.threadCpuUsage();
  (function tick() {
    const now = process.threadCpuUsage();
    globalThis.longestTurn = Math.max(globalThis.longestTurn, now.user + now.system - last.user - last.system);
    last = now;
    setImmediate(tick);
  })();
`;
const READ =
  '(() => { const longest = globalThis.longestTurn; globalThis.longestTurn = 0; return longest; })()';

/** @param port the one that \`--inspect-port\` gave the process */
export async function watchTurns({ pid, port }: { pid: number; port: number }): Promise<Turns> {
  process.kill(pid, 'SIGUSR1');
  let address: string | undefined;
  const look = async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/json/list`).catch(() => undefined);
    const [target] = answer ? JSON.parse(await answer.text()) : [];
    address = target?.webSocketDebuggerUrl;
    return address !== undefined;
  };
  await waitUntil(look, { seconds: 10 });
  if (!address) throw new Error(`The inspector does not answer on port ${port}.`);
  const socket = new WebSocket(address);
  await once(socket, 'open');
  let last = 0;
  const evaluate = async (expression: string): Promise<number> => {
    last += 1;
    const id = last;
    socket.send(JSON.stringify({ id, method: 'Runtime.evaluate', params: { expression } }));
    for (;;) {
      const [{ data }] = await once(socket, 'message');
      const answer = JSON.parse(String(data));
      if (answer.id === id) return Number(answer.result.result.value);
    }
  };
  await evaluate(WATCH);
  return { longest: async () => (await evaluate(READ)) / 1000, close: () => socket.close() };
}
