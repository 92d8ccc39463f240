import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { createServer } from 'node:net';

/** Finds a free port of the loopback address. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject);
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address();
      probe.close(() => resolve(typeof address === 'object' && address ? address.port : 0));
    });
  });
}

export function isPortFree(port: number, host: string): Promise<boolean> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', (error: NodeJS.ErrnoException) => {
      if (error.code === 'EADDRINUSE') resolve(false);
      else reject(error);
    });
    probe.listen(port, host, () => probe.close(() => resolve(true)));
  });
}

/** Finds the process that listens on a port. @returns undefined when the system does not show it */
export function portOwner(port: number): number | undefined {
  if (process.platform === 'linux') return ownerInProc(port);
  const flags = ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'];
  return Number.parseInt(spawnSync('lsof', flags, { encoding: 'utf8' }).stdout, 10) || undefined;
}

const LISTENING = '0A';

function ownerInProc(port: number): number | undefined {
  const sockets = new Set(
    ['/proc/net/tcp', '/proc/net/tcp6']
      .flatMap((file) =>
        orNothing(() => readFileSync(file, 'utf8'), '')
          .split('\n')
          .slice(1),
      )
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
  const folder = `/proc/${pid}/fd`;
  return orNothing(() => readdirSync(folder), []).map((file) =>
    orNothing(() => readlinkSync(`${folder}/${file}`), ''),
  );
}

/**
 * Reads a file of /proc, which may vanish at any moment, belong to another user, or not exist without IPv6.
 */
function orNothing<T>(read: () => T, nothing: T): T {
  try {
    return read();
  } catch {
    return nothing;
  }
}
