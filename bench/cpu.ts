import { readdirSync, readFileSync } from 'node:fs';

const TICKS = 100; // ticks in a second, in /proc on every current Linux (USER_HZ)

/** Reads the processor time of some processes so far, in seconds. NaN where the system does not show it. */
export type Meter = () => number;

export function meterOf(pid: number): Meter {
  return () => statOf(pid)?.own ?? Number.NaN;
}

/** Reads the processor time of a process and all its children, ended ones included. */
export function familyMeterOf(pid: number): Meter {
  return () => {
    const parent = statOf(pid);
    if (!parent) return Number.NaN;
    const children = readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => statOf(Number(name)))
      .filter((stat) => stat?.parent === pid);
    return children.reduce((sum, stat) => sum + (stat?.own ?? 0), parent.own + parent.ended);
  };
}

export function parentOf(pid: number): number {
  return statOf(pid)?.parent ?? 0;
}

/** @see proc_pid_stat(5), whose second field is a name with any characters */
function statOf(pid: number) {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    const fields = text
      .slice(text.lastIndexOf(')') + 2)
      .split(' ')
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      parent: fields[1] ?? 0,
      own: (user + system) / TICKS,
      ended: (endedUser + endedSystem) / TICKS,
    };
  } catch {
    return undefined; // the process has ended, or the system has no /proc
  }
}

/** Reads the resident memory in MB. NaN where the system does not show it. */
export function memoryOf(pid: number): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8');
    return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1]) / 1024;
  } catch {
    return Number.NaN;
  }
}
