import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { signal, waitUntil } from '../machine/folders.ts';
import { ownProcesses } from './earlier.ts';
import type { Home } from './postgres.ts';

interface ServerOptions {
  readonly env: NodeJS.ProcessEnv;
  readonly isLogShown: boolean;
  /** Prints a line for each request. */
  readonly hasRequests: boolean;
  readonly print: (line: string) => void;
}

interface Server {
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

const QUIET = new Set(['trace', 'debug', 'info']);
const ROUTINE = new Set(['level', 'time', 'msg', 'pid', 'hostname', 'reqId', 'err']); // an error's stack fills a screen

/**
 * Makes a line of the server's log readable: `warn` and above in a short form, and a line that is not a log
 * line unchanged.
 * @param hasRequests shows answered requests too, as `GET /v1/agents/:id 200 3 ms`
 * @returns undefined for any other line below `warn`
 */
export function readableLine(line: string, hasRequests = false): string | undefined {
  const entry = parse(line);
  if (!entry) return line.trim() === '' ? undefined : line;
  const level = String(entry.level);
  if (QUIET.has(level)) return hasRequests ? requestLine(entry) : undefined;
  const more = Object.entries(entry)
    .filter(([name]) => !ROUTINE.has(name))
    .map(([name, value]) => `${name}=${typeof value === 'string' ? value : JSON.stringify(value)}`);
  return [`${level}:`, entry.msg ?? errorMessage(entry.err), ...more].filter(Boolean).join(' ');
}

/** Routes without the ids and queries of a request. The health check of every few seconds is left out. */
function requestLine({
  msg,
  method,
  route,
  status,
  responseTime,
}: Record<string, unknown>): string | undefined {
  if (msg !== 'request' || route === '/health') return undefined;
  return `${method} ${route} ${status} ${Math.round(Number(responseTime))} ms`;
}

function errorMessage(error: unknown): unknown {
  return typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
}

function parse(line: string): Record<string, unknown> | undefined {
  try {
    const entry: unknown = JSON.parse(line);
    return typeof entry === 'object' && entry !== null && 'level' in entry ? { ...entry } : undefined;
  } catch {
    return undefined;
  }
}
