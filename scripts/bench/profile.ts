import { existsSync, readFileSync } from 'node:fs';
import { SourceMap } from 'node:module';
import { fileURLToPath } from 'node:url';

/** The part of a V8 CPU profile that is read here. */
export interface CpuProfile {
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

export interface Share {
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

export interface Turn {
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
