import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

/** The process that listens on a port; undefined when it is not ours to see. */
export function portOwner(port: number): number | undefined {
  if (process.platform === 'linux') return ownerInProc(port);
  const flags = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'];
  return Number.parseInt(spawnSync('lsof', flags, { encoding: 'utf8' }).stdout, 10) || undefined;
}

const LISTENING = '0A';

function ownerInProc(port: number): number | undefined {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6']
      .flatMap((file) => read(file).split('\n').slice(1))
      .map((line) => line.trim().split(/\s+/))
      .filter(([, local, , state]) => state === LISTENING && portOf(local) === port)
      .map((fields) => `socket:[${fields[9]}]`),
  );
  return readdirSync('/proc')
    .map(Number)
    .find((pid) => pid > 0 && openFiles(pid).some((file) => sockets.has(file)));
}

function portOf(address = ''): number {
  return Number.parseInt(address.replace(/^.*:/, ''), 16);
}

function openFiles(pid: number): string[] {
  try {
    return readdirSync(`/proc/${pid}/fd`).map((file) => readlinkSync(`/proc/${pid}/fd/${file}`));
  } catch {
    return []; // it ended just now, or is another user's
  }
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return ''; // a system without IPv6
  }
}
