import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { signal, waitUntil } from '../machine/processes.ts';
import { ownProcesses } from './earlier.ts';
import type { Home } from './home.ts';
import { readableLine } from './server-log.ts';

export interface ServerOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly isLogShown: boolean;
  /** Prints a line for each request. */
  readonly hasRequests: boolean;
  readonly print: (line: string) => void;
}

export interface Server {
  /** Resolves with the reason when the process ends. */
  readonly ended: Promise<string>;
  /** @throws when the server ends or does not answer in time */
  readonly healthy: (url: string) => Promise<void>;
  readonly stop: () => Promise<void>;
}

export async function launchServer(home: Home, options: ServerOptions): Promise<Server> {
  const { mark, file } = ownProcesses(home).server;
  // The server is detached, because Ctrl-C would otherwise reach it twice, from the terminal and from this
  // process, and the second signal means "at once".
  // Stack traces name the lines of the sources, and not of the packed files.
  const child = spawn(process.execPath, ['--enable-source-maps', mark], {
    env: options.env,
    detached: true,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const ended = once(child, 'close').then(
    ([code, name]) => `The server ended with ${name ?? `code ${code}`}; its log is ${logFile(home)}`,
  );
  await once(child, 'spawn');
  writeFileSync(file, String(child.pid), { mode: 0o600 });
  passLogOn(child, home, options);

  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  return {
    ended,
    healthy: async (url) => {
      const isHealthy = await waitUntil(async () => hasEnded() || answersWell(url), { seconds: 60 });
      if (hasEnded()) throw new Error(await ended);
      if (!isHealthy) throw new Error(`The server does not get healthy; its log is ${logFile(home)}`);
    },
    stop: async () => {
      if (child.pid && !hasEnded()) signal(child.pid, 'SIGTERM');
      await ended;
    },
  };
}

export function logFile({ folder }: Home): string {
  return join(folder, 'server.log');
}

function passLogOn(child: ChildProcess, home: Home, { isLogShown, hasRequests, print }: ServerOptions): void {
  const log = createWriteStream(logFile(home), { mode: 0o600 });
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue;
    createInterface({ input: stream }).on('line', (line) => {
      log.write(`${line}\n`);
      const shown = isLogShown ? line : readableLine(line, hasRequests);
      if (shown !== undefined) print(shown);
    });
  }
}

async function answersWell(url: string): Promise<boolean> {
  try {
    return (await fetch(url, { signal: AbortSignal.timeout(5_000) })).ok;
  } catch {
    return false; // it does not listen yet
  }
}
