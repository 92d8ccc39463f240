import { generateKeyPairSync, sign, verify } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { cpus, totalmem } from 'node:os';
import { promisify } from 'node:util';
import type pg from 'pg';

/** Reads the processor time of some processes so far, in seconds. NaN where the system does not show it. */
export type Meter = () => number;

export function meterOf(pid: number): Meter {
  return () => timesOf(pid)?.own ?? Number.NaN;
}

/** Reads the processor time of a process and all its children, ended ones included. */
export function familyMeterOf(pid: number): Meter {
  return () => {
    const parent = timesOf(pid);
    if (!parent) return Number.NaN;
    const children = allTimes().filter((times) => times.parent === pid);
    return children.reduce((sum, { own }) => sum + own, parent.own + parent.ended);
  };
}

export function parentOf(pid: number): number {
  return timesOf(pid)?.parent ?? 0;
}

/** Reads the resident memory in MB. NaN where the system does not show it. */
export const memoryOf = (pid: number) => statusOf(pid, 'VmRSS');

/** Reads the highest resident memory so far in MB. NaN where the system does not show it. */
export const highestMemoryOf = (pid: number) => statusOf(pid, 'VmHWM');

function statusOf(pid: number, name: string): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(new RegExp(`${name}:\\s+(\\d+) kB`).exec(status)?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}

/** Reads the processor time of this process, which makes the load. */
export const driverMeter: Meter = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000_000;
};

/** Describes the machine, as far as it affects the figures. */
export async function describeMachine(db: pg.Client, redisVersion: string): Promise<string[]> {
  const [processor] = cpus();
  const { rows } = await db.query<{ server_version: string }>('show server_version');
  return [
    `${cpus().length} cores (${processor?.model.trim() ?? 'unknown'}), ${Math.round(totalmem() / 2 ** 30)} GB`,
    `Node ${process.versions.node}, PostgreSQL ${rows[0]?.server_version} (fsync on), Redis ${redisVersion}`,
  ];
}

export interface SigningRates {
  readonly sign: number;
  readonly verify: number;
  /** Measures signatures on libuv's threads, sixteen at once. */
  readonly pooledSign: number;
}

/** Measures RSA-2048 with SHA-256, the signature of tokens, for some seconds each. */
export async function measureSigning(seconds: number): Promise<SigningRates> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const text = Buffer.alloc(900, 'x'); // about a token
  const signature = sign('sha256', text, privateKey);
  const signAsync = promisify(sign);
  const endsAt = (start: number) => start + seconds * 1000;

  const start = performance.now();
  let pooled = 0;
  const lines = Array.from({ length: 16 }, async () => {
    for (; performance.now() < endsAt(start); pooled += 1) await signAsync('sha256', text, privateKey);
  });
  await Promise.all(lines);
  return {
    pooledSign: pooled / seconds,
    sign: rateOf(() => sign('sha256', text, privateKey), seconds),
    verify: rateOf(() => verify('sha256', text, publicKey, signature), seconds),
  };
}

function rateOf(work: () => unknown, seconds: number): number {
  const endsAt = performance.now() + seconds * 1000;
  let done = 0;
  for (; performance.now() < endsAt; done += 1) work();
  return done / seconds;
}

const TICKS = 100; // ticks in a second, in /proc on every current Linux (USER_HZ)

interface ProcessTimes {
  readonly parent: number;
  /** The program's name, cut to fifteen letters. */
  readonly name: string;
  /** Seconds that the process has used itself. */
  readonly own: number;
  /** Seconds that its children used, and theirs, of which each has ended and was waited for. */
  readonly ended: number;
}

/** Reads what a process has used. @returns undefined when the process is gone, or the system has no /proc. @see proc_pid_stat(5) */
export function timesOf(pid: number): ProcessTimes | undefined {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const nameEnds = text.lastIndexOf(')'); // the name may hold anything
    const fields = text
      .slice(nameEnds + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      parent: fields[1] ?? 0,
      name: text.slice(text.indexOf('(') + 1, nameEnds),
      own: (user + system) / TICKS,
      ended: (endedUser + endedSystem) / TICKS,
    };
  } catch {
    return undefined;
  }
}

/**
 * The seconds that the first thread of a process, which runs the event loop in Node, was ready to run and had no core.
 * NaN where the system does not say so.
 * @see https://docs.kernel.org/scheduler/sched-stats.html
 */
export function secondsWithoutCore(pid: number): number {
  try {
    const [, waited] = readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ');
    return Number(waited) / 1e9;
  } catch {
    return Number.NaN;
  }
}

/** Reads them of every process; none where the system has no /proc. */
function allTimes() {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .flatMap((pid) => {
      const times = timesOf(pid);
      return times ? [{ pid, ...times }] : [];
    });
}
