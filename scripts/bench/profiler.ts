import { once } from 'node:events';
import { waitUntil } from '../machine/processes.ts';
import type { CpuProfile } from './profile.ts';

export interface Profiler {
  readonly start: () => Promise<void>;
  readonly stop: () => Promise<CpuProfile>;
  readonly close: () => void;
}

/**
 * Opens the inspector of a running Node process, which SIGUSR1 starts, and speaks the DevTools protocol with it.
 * Only profiled rounds pay for it, because it stays closed until the measured rounds are over.
 * @param port the one that `--inspect-port` gave the process
 */
export async function openProfiler({ pid, port }: { pid: number; port: number }): Promise<Profiler> {
  process.kill(pid, 'SIGUSR1');
  let address: string | undefined;
  await waitUntil(
    async () => {
      address = await addressAt(port);
      return address !== undefined;
    },
    { seconds: 10 },
  );
  if (!address) throw new Error(`The inspector does not answer on port ${port}.`);
  const socket = new WebSocket(address);
  await once(socket, 'open');
  let last = 0;
  const call = (method: string, params: object = {}) =>
    new Promise<{ profile?: CpuProfile }>((resolve) => {
      last += 1;
      const id = last;
      const listen = ({ data }: MessageEvent) => {
        const answer = JSON.parse(String(data));
        if (answer.id !== id) return;
        socket.removeEventListener('message', listen);
        resolve(answer.result);
      };
      socket.addEventListener('message', listen);
      socket.send(JSON.stringify({ id, method, params }));
    });
  await call('Profiler.enable');
  return {
    start: async () => void (await call('Profiler.start')),
    stop: async () => {
      const { profile } = await call('Profiler.stop');
      if (!profile) throw new Error('The inspector sent no profile.');
      return profile;
    },
    close: () => socket.close(),
  };
}

async function addressAt(port: number): Promise<string | undefined> {
  try {
    const [target] = JSON.parse(await (await fetch(`http://127.0.0.1:${port}/json/list`)).text());
    return target?.webSocketDebuggerUrl;
  } catch {
    return undefined; // it is not open yet
  }
}
