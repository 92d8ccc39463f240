import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { run } from './load.ts';
import type { Setting } from './options.ts';
import { dearestOf, withSources } from './profile.ts';
import { openProfiler } from './profiler.ts';
import type { Measured } from './rounds.ts';
import type { Scene } from './scene.ts';

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
