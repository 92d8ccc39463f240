import { readFileSync } from 'node:fs';
import { allTimes, timesOf } from './processor-time.ts';

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
