import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { inject, onTestFinished } from 'vitest';
import { newDatabase } from '../app/start-app.ts';

const ENTRY = join(import.meta.dirname, '../../start.mjs');

type Line = Readonly<Record<string, unknown>>;

/** The real process, with these settings and no others. */
export function startServer(env: Readonly<Record<string, string>>) {
  const child = spawn(process.execPath, [ENTRY], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: Line[] = [];
  const output: string[] = []; // raw, including incomplete lines
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => output.push(text));
  }
  const said = createInterface({ input: child.stdout });
  const isReady = new Promise<Line>((resolve) => {
    said.on('line', (text) => {
      const line: Line = JSON.parse(text);
      lines.push(line);
      if (line.msg === 'ready') resolve(line);
    });
  });
  const closed = once(said, 'close');
  const exited = once(child, 'exit').then(async ([code]) => {
    await closed; // the last output may arrive after the exit
    return { code: code as number | null, lines }; // by the documentation, the event's first argument
  });
  onTestFinished(() => end(child));

  /** @throws the output of a server that ended before it listened */
  const ready = async () => {
    const ended = exited.then(({ code }) => {
      throw new Error(`The server ended with ${code}: ${JSON.stringify(lines)}`);
    });
    return Promise.race([isReady, ended]);
  };
  return { child, lines, output, ready, exited };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGKILL');
  await once(child, 'exit');
}

/** The settings that a server needs to start, with a database of its own. */
export async function goodSettings() {
  const port = await freePort();
  const settings = {
    NODE_ENV: 'test',
    DATABASE_URL: await newDatabase(),
    REDIS_URL: redisUrl(),
    RSA_PRIVATE_KEY: inject('rsaKey'),
    HOST: '127.0.0.1',
    PORT: String(port),
    RATE_LIMIT_SIGNUP_HOURLY: '1000000',
    RATE_LIMIT_SIGNUP: '1000000', // all files send from the same address, and share a Redis
  };
  return { settings, url: `http://127.0.0.1:${port}` };
}

/** A port that was free a moment ago. */
export async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const address = probe.address();
  probe.close();
  return typeof address === 'object' && address ? address.port : 0;
}

/**
 * The run's Redis, in a database that no other worker uses, so files that run at the same time do not disturb
 * each other.
 */
export function redisUrl(): string {
  return new URL(`/${process.env.VITEST_POOL_ID}`, inject('redisUrl')).href;
}
