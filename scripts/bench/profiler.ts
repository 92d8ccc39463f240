import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { waitUntil } from '../machine/processes.ts';
import { run } from './load.ts';
import type { Setting } from './options.ts';
import { type CpuProfile, dearestOf, withSources } from './profile.ts';
import type { Measured } from './rounds.ts';
import type { Scene } from './scene.ts';

interface Profiler {
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

const SECONDS = 4;
const NAMES = 12;

/** Where the server's time goes in one flow. */
export interface Dear {
  readonly flow: string;
  readonly file: string;
  readonly functions: readonly string[];
  readonly packages: readonly string[];
}

/** Writes a CPU profile of each flow that misses its aim. */
export async function profileMissed(
  { server, service }: Scene,
  measured: readonly Measured[],
  { folder, setting }: { folder: string; setting: Setting },
): Promise<Dear[]> {
  mkdirSync(folder, { recursive: true });
  const profiler = await openProfiler({ pid: server.pid, port: server.inspectPort });
  const dear: Dear[] = [];
  for (const { flow } of measured.filter((each) => each.share < each.flow.aim)) {
    await flow.prepare?.();
    await profiler.start();
    await run({ ...service, ...flow, seconds: SECONDS, connections: setting.connections });
    const profile = await profiler.stop();
    const file = join(folder, `${flow.name.replaceAll(/[^a-z]+/gi, '-').replace(/-$/, '')}.cpuprofile`);
    writeFileSync(file, JSON.stringify(profile));
    const { functions, packages } = dearestOf(withSources(profile), NAMES);
    const lines = (shares: typeof functions) =>
      shares.map(({ name, share }) => `${(share * 100).toFixed(1).padStart(5)} %  ${name}`);
    dear.push({ flow: flow.name, file, functions: lines(functions), packages: lines(packages) });
  }
  profiler.close();
  return dear;
}
