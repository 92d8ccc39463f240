import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { waitUntil } from '../machine/folders.ts';
import { run } from './load.ts';
import type { Setting } from './options.ts';
import type { Flow, Measured } from './rounds.ts';
import type { Scene } from './scene.ts';

/** The part of a V8 CPU profile that is read here. */
interface CpuProfile {
  readonly nodes: readonly ProfileNode[];
  readonly samples: readonly number[];
  /** Microseconds before each sample. */
  readonly timeDeltas: readonly number[];
}

interface ProfileNode {
  readonly id: number;
  readonly callFrame: {
    readonly functionName: string;
    readonly url: string;
    readonly lineNumber: number;
    readonly columnNumber: number;
  };
}

interface Share {
  readonly name: string;
  /** The part of the time in which the process worked. */
  readonly share: number;
}

/** Names the sources in a profile of a server that runs packed ones. */
export function withSources({ nodes, ...profile }: CpuProfile): CpuProfile {
  const maps = new Map<string, SourceMap | undefined>();
  const mapOf = (url: string) => {
    if (!maps.has(url)) {
      const file = url.startsWith('file:') ? `${fileURLToPath(url)}.map` : '';
      maps.set(url, existsSync(file) ? new SourceMap(JSON.parse(readFileSync(file, 'utf8'))) : undefined);
    }
    return maps.get(url);
  };
  const placed = nodes.map((node) => {
    const { url, lineNumber, columnNumber } = node.callFrame;
    const entry = mapOf(url)?.findEntry(lineNumber, columnNumber);
    if (!entry || !('originalSource' in entry)) return node;
    const source = new URL(entry.originalSource, url).href;
    return { ...node, callFrame: { ...node.callFrame, url: source, lineNumber: entry.originalLine } };
  });
  return { ...profile, nodes: placed };
}

/** @returns the dearest functions and the dearest packages by their own time, without the time of their callees */
export function dearestOf(
  { nodes, samples, timeDeltas }: CpuProfile,
  most: number,
): Readonly<Record<'functions' | 'packages', readonly Share[]>> {
  const times = new Map<number, number>();
  samples.forEach((id, each) => {
    times.set(id, (times.get(id) ?? 0) + (timeDeltas[each] ?? 0));
  });
  const busy = nodes.filter(({ callFrame }) => callFrame.functionName !== '(idle)');
  const total = busy.reduce((sum, { id }) => sum + (times.get(id) ?? 0), 0);
  const by = (nameOf: (node: ProfileNode) => string): Share[] => {
    const sums = new Map<string, number>();
    for (const node of busy) {
      sums.set(nameOf(node), (sums.get(nameOf(node)) ?? 0) + (times.get(node.id) ?? 0));
    }
    return [...sums]
      .map(([name, time]) => ({ name, share: time / total }))
      .sort((a, b) => b.share - a.share)
      .slice(0, most);
  };
  return { functions: by(functionName), packages: by(packageName) };
}

interface Turn {
  readonly milliseconds: number;
  /** The dearest functions by their own time. */
  readonly functions: readonly Share[];
}

/**
 * The turns of the event loop: the stretches without a pause in which the process waits for nothing, so that nobody else
 * is served. Turns that follow each other without a pause count as one.
 * @param least milliseconds of the shortest turn that is told
 * @returns the longest first
 */
export function turnsOf({ nodes, samples, timeDeltas }: CpuProfile, least: number): readonly Turn[] {
  const idle = new Set(
    nodes.filter(({ callFrame }) => callFrame.functionName === '(idle)').map(({ id }) => id),
  );
  const turns: Turn[] = [];
  for (let from = 0, to = 0; to <= samples.length; to += 1) {
    const id = samples[to];
    if (id !== undefined && !idle.has(id)) continue;
    const own = timeDeltas.slice(from, to);
    const milliseconds = own.reduce((sum, time) => sum + time, 0) / 1000;
    if (milliseconds >= least) {
      const { functions } = dearestOf({ nodes, samples: samples.slice(from, to), timeDeltas: own }, 4);
      turns.push({ milliseconds, functions });
    }
    from = to + 1;
  }
  return turns.sort((a, b) => b.milliseconds - a.milliseconds);
}

function functionName(node: ProfileNode): string {
  const { functionName: name, url, lineNumber } = node.callFrame;
  if (!url) return name || '(native)';
  return `${name || '(anonymous)'} ${fileName(url)}:${lineNumber + 1}`;
}

const fileName = (url: string) =>
  url.replace(/^.*\/(behest-packages\/[^/]+|node_modules|apps|packages)\//, '');

/** A package of npm, a folder of the service, Node, or a name that V8 gives, such as the collector's. */
function packageName({ callFrame: { url, functionName: name } }: ProfileNode): string {
  if (url.startsWith('node:')) return 'node';
  const [, packed] = /\/behest-packages\/[^/]+\/([^/]+)[.]mjs$/.exec(url) ?? [];
  if (packed) return packed;
  const [, installed] = /.*\/node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(url) ?? [];
  if (installed) return installed;
  return url ? fileName(url).replace(/[^/]+$/, '') : name.startsWith('(') ? name : '(native)';
}

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
  scene: Scene,
  measured: readonly Measured[],
  { folder, setting }: { folder: string; setting: Setting },
): Promise<Dear[]> {
  const missed = measured.filter((each) => each.share < each.flow.aim).map(({ flow }) => flow);
  return profileOf(scene, missed, { folder, ...setting });
}

/** Writes a CPU profile of each flow. */
export async function profileOf(
  { server, service }: Scene,
  flows: readonly Pick<Flow, 'name' | 'prepare' | 'operation'>[],
  { folder, connections }: { folder: string; connections: number },
): Promise<Dear[]> {
  mkdirSync(folder, { recursive: true });
  const profiler = await openProfiler({ pid: server.pid, port: server.inspectPort });
  const dear: Dear[] = [];
  for (const flow of flows) {
    await flow.prepare?.();
    await profiler.start();
    await run({ ...service, ...flow, seconds: SECONDS, connections });
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
