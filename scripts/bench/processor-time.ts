import { readdirSync, readFileSync } from 'node:fs';

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
export function allTimes() {
  if (process.platform !== 'linux') return [];
  return readdirSync('/proc')
    .map(Number)
    .filter((pid) => pid > 0)
    .flatMap((pid) => {
      const times = timesOf(pid);
      return times ? [{ pid, ...times }] : [];
    });
}
