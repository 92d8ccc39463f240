import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { readCheckpointText, readNote, verifyNote } from '@behest/protocol/signed-note';
import type { Context } from '../context.ts';
import { type KeptNote, type KeptNotes, nameOfOrigin } from './kept-notes.ts';
import { type Network, readTextAt, Unreachable, verifyEd25519 } from './log-client.ts';
import { Alarm, type AlarmKind, compare, type Looked, lookAt, type WatchedLog } from './look.ts';

export interface WatchOptions {
  /** How long a smaller tree may come from a cache. */
  readonly recheckSeconds: number;
  /** After how long without growth to give an alarm. */
  readonly maxQuietSeconds: number | undefined;
  /** Addresses of other watchers. */
  readonly peers: readonly string[];
  /** A command, and an address, that hear of each alarm. */
  readonly exec: string | undefined;
  readonly webhook: string | undefined;
}

export type Outcome = 'fine' | 'alarm' | 'unreachable';

/** Watches logs over many looks. */
export interface Watcher {
  look(log: WatchedLog): Promise<Outcome>;
  tell(alarm: Alarm, origin: string): Promise<void>;
}

/** What an old answer of a cache may look like. */
const LATE: ReadonlySet<string> = new Set(['rollback', 'tiles', 'gone'] satisfies AlarmKind[]);
const TRIES = 3;
const TRY_AGAIN = 1000; // milliseconds

export function createWatcher(context: Context, notes: KeptNotes, options: WatchOptions): Watcher {
  const network: Network = { fetch: context.io.fetch, signal: context.io.signal };
  const states = new Map<string, { size?: number; since: number; told?: string }>();

  const look = async (log: WatchedLog): Promise<Outcome> => {
    const state = states.get(log.origin) ?? { since: Date.now() };
    states.set(log.origin, state);
    let outcome: Outcome = 'fine';
    let alarm: Alarm | undefined;
    try {
      const looked = await patiently(() => lookAt(log, notes, network));
      if (looked.hasNewKey) context.line(JSON.stringify({ notice: 'key_changed', origin: log.origin }));
      if (looked.head.size !== state.size) {
        context.note(`${log.origin}: ${looked.head.size} entries, all is well`);
        Object.assign(state, { size: looked.head.size, since: Date.now() });
      }
      for (const peer of options.peers) await comparePeer(log, looked, peer);
    } catch (error) {
      if (error instanceof Alarm) alarm = error;
      else if (error instanceof Unreachable) {
        context.note(error.message);
        outcome = 'unreachable';
      } else throw error;
    }
    const quietSeconds = (Date.now() - state.since) / 1000;
    if (!alarm && options.maxQuietSeconds !== undefined && quietSeconds >= options.maxQuietSeconds)
      alarm = new Alarm('stalled', `The log has not grown for ${Math.floor(quietSeconds)} seconds.`);
    if (!alarm) {
      if (outcome === 'fine') delete state.told;
      return outcome;
    }
    const said = `${alarm.kind} ${alarm.notes.at(-1) ?? ''}`;
    if (said !== state.told) await tell(alarm, log.origin); // once, and not at each look
    state.told = said;
    return 'alarm';
  };

  /** Repeats a look that failed, since servers have bad moments and caches may lag. */
  const patiently = async (work: () => Promise<Looked>, failed: readonly string[] = []): Promise<Looked> => {
    try {
      return await work();
    } catch (error) {
      const what = error instanceof Alarm ? error.kind : error instanceof Unreachable ? error.name : '';
      const isLate = LATE.has(what) && !failed.includes(what);
      const isBusy = what === 'Unreachable' && failed.filter((each) => each === what).length < TRIES - 1;
      if (!isLate && !isBusy) throw error;
      await sleep(isLate ? options.recheckSeconds * 1000 : TRY_AGAIN, undefined, { signal: network.signal });
      return patiently(work, [...failed, what]);
    }
  };

  const comparePeer = async (log: WatchedLog, own: KeptNote, peer: string) => {
    const note = await readTextAt(
      `${peer.replace(/\/$/, '')}/${nameOfOrigin(log.origin)}/checkpoint`,
      network,
    );
    const read = readNote(note);
    const head = read && readCheckpointText(read.text);
    const keys = log.pinned.length > 0 ? log.pinned : notes.keysOf(log.origin);
    // Only what the log has signed can accuse it.
    if (!head || head.origin !== log.origin || !verifyNote(read, keys, verifyEd25519).ok)
      throw new Unreachable(`${peer} has no note that the log has signed.`);
    const [older, newer] = head.size <= own.head.size ? [{ head, note }, own] : [own, { head, note }];
    await compare(log, newer, older, network);
  };

  const tell = async ({ kind, message, notes: proof }: Alarm, origin: string) => {
    const at = new Date().toISOString();
    const evidence =
      proof.length > 0
        ? notes.keepEvidence(`${kind}-${nameOfOrigin(origin).slice(0, 16)}-${at.replaceAll(':', '')}.json`, {
            ...{ alarm: kind, origin, message, at },
            notes: proof,
          })
        : undefined;
    const text = JSON.stringify({ alarm: kind, origin, message, at, ...(evidence && { evidence }) });
    context.line(text);
    if (options.exec !== undefined) await runCommand(options.exec, text).catch(failed('--exec'));
    if (options.webhook !== undefined) await send(options.webhook, text).catch(failed('--webhook'));
  };

  const failed = (option: string) => (error: unknown) =>
    context.note(`${option} did not hear of the alarm: ${error instanceof Error ? error.message : error}`);

  const send = async (url: string, body: string) => {
    const headers = { 'content-type': 'application/json' };
    const signal = AbortSignal.any([network.signal, AbortSignal.timeout(10_000)]);
    const answer = await network.fetch(url, { method: 'POST', headers, body, redirect: 'manual', signal });
    if (!answer.ok) throw new Error(`it answered ${answer.status}`);
  };

  const runCommand = async (command: string, input: string) => {
    const child = spawn(command, {
      shell: true,
      stdio: ['pipe', 'ignore', 'ignore'],
      signal: network.signal,
    });
    child.stdin.on('error', () => {}); // a command need not read its input
    child.stdin.end(`${input}\n`);
    const [code] = await once(child, 'close');
    if (code !== 0) throw new Error(`it ended with ${code}`);
  };

  return { look, tell };
}
