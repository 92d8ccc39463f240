import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Context } from '../context.ts';
import { CliError, EXIT } from '../errors.ts';
import { firstSteps, openReceiver } from './first-steps.ts';
import type { Place } from './place.ts';

const READY = /Behest listens at (\S+)/;
const [PATIENCE, TURN] = [180_000, 100]; // milliseconds; a first start fetches and makes a database

export interface Running {
  readonly place: Place;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A file as `behest apply` reads it, for the sandbox account. */
  readonly seed: string | undefined;
  /** True where a receiver beside the service prints the webhooks of its accounts. */
  readonly hasReceiver: boolean;
}

/** Runs the service until it is stopped. @throws CliError when it ends by itself */
export async function runHere(context: Context, { place, env, seed, hasReceiver }: Running): Promise<number> {
  const receiver = hasReceiver ? await openReceiver(context) : undefined;
  const child = spawn(process.execPath, place.argv, {
    ...{ cwd: place.folder, env: { ...context.io.env, ...env } },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'], // the child hears of the end of this process
  });
  const stop = () => child.kill('SIGTERM');
  context.io.signal.addEventListener('abort', stop, { once: true });
  let said = '';
  let first: Promise<void> | undefined;
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    context.io.out(text);
    if (first) return;
    said += text;
    const [, address] = READY.exec(said) ?? [];
    if (address === undefined) return;
    first = firstSteps(context, { data: place.data, address, seed, receiver });
    first.catch(stop);
  });
  const code = await endOf(child).finally(() => receiver?.close());
  await first;
  if (context.io.signal.aborted || code === 0) return EXIT.done; // it was asked to end, and did so in order
  throw notRunning(said.trim().split('\n').at(-1) ?? '');
}

/** Leaves the service running. @throws CliError when it does not get ready */
export async function runDetached(context: Context, { place, env, seed }: Running): Promise<number> {
  mkdirSync(place.data, { recursive: true, mode: 0o711 }); // the account of PostgreSQL passes through it
  const file = join(place.data, 'start.log');
  const log = openSync(file, 'w', 0o600);
  const child = spawn(process.execPath, place.argv, {
    ...{ cwd: place.folder, env: { ...context.io.env, ...env } },
    ...{ stdio: ['ignore', log, log], detached: true },
  });
  let hasEnded = false;
  child.once('exit', () => (hasEnded = true)).once('error', () => (hasEnded = true));
  for (const began = Date.now(); !hasEnded && Date.now() - began < PATIENCE; await sleep(TURN)) {
    const [, address] = READY.exec(readFileSync(file, 'utf8')) ?? [];
    if (address === undefined) continue;
    await firstSteps(context, { data: place.data, address, seed });
    child.unref();
    context.note(`It runs at ${address} (pid ${child.pid}); its log is ${file}. behest dev stop ends it.`);
    return EXIT.done;
  }
  child.kill('SIGTERM');
  throw notRunning(readFileSync(file, 'utf8').trim().split('\n').at(-1) ?? '');
}

const endOf = (child: ChildProcess) =>
  new Promise<number>((done, fail) => {
    child.once('error', fail);
    child.once('close', (status) => done(status ?? EXIT.done));
  });

const notRunning = (line: string) =>
  new CliError('DEV', `The service did not start, or ended: ${line || 'it said nothing'}`, {
    exitCode: EXIT.unavailable,
    next: 'behest dev --help',
  });
