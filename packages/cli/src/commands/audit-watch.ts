import { createPrivateKey, createPublicKey, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { dirname, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseDuration } from '@behest/protocol/durations';
import {
  type NoteKey,
  noteKey,
  readCheckpointText,
  readNote,
  readVkey,
  verifyNote,
  vkeyOf,
  WITNESS_KEY,
} from '@behest/protocol/signed-note';
import { readText } from '../config/settings.ts';
import { userFile } from '../config/user-file.ts';
import type { Context } from '../context.ts';
import { EXIT, wrongUsage } from '../errors.ts';
import { type CommandSpec, type Given, isSet, textOf, textsOf } from '../program/spec.ts';
import { type KeptNote, type KeptNotes, keptNotes } from '../transparency/kept-notes.ts';
import { sha256, verifyEd25519 } from '../transparency/log-client.ts';
import { Alarm, compare, type WatchedLog } from '../transparency/look.ts';
import { createWatcher, type Watcher } from '../transparency/watching.ts';
import { serveWitness } from '../transparency/witness.ts';

const VKEYS = {
  flags: '--vkey <vkey>',
  about: 'the key of a log, as `GET /v1/transparency` names it',
  isMany: true,
} as const;

export const WATCH: readonly CommandSpec[] = [
  {
    name: 'audit watch',
    summary: 'Watch a transparency log from outside: it may only grow',
    notes:
      'Each alarm is a line of JSON. With --once it ends with 0 when all is well, 1 at an alarm, and 8 where a log cannot be reached.',
    isLocal: true,
    examples: [
      'behest audit watch --log https://auth.example.com/log/3f9a1c5e7b2d4806a1b3c5d7e9f01234 --once',
      'behest audit watch --log https://auth.example.com/log/3f9a1c5e7b2d4806a1b3c5d7e9f01234 --witness --name watch.example.com/w1 --key-file witness.pem',
    ],
    options: [
      { flags: '--log <url>', about: 'the address of a log; default: that of the account', isMany: true },
      { flags: '--state <folder>', about: 'where verified notes are kept; default: beside the profiles' },
      { flags: '--every <duration>', about: 'how often to look', default: '60s' },
      { flags: '--once', about: 'look once, and end' },
      VKEYS,
      { flags: '--did <url>', about: 'the DID document whose keys count without --vkey' },
      {
        flags: '--recheck <duration>',
        about: 'how long an old answer may come from a cache',
        default: '10s',
      },
      { flags: '--max-quiet <duration>', about: 'give an alarm when a log has not grown for so long' },
      { flags: '--exec <command>', about: 'run at each alarm, which it reads from its input' },
      { flags: '--webhook <url>', about: 'send each alarm there' },
      { flags: '--peer <url>', about: 'compare with the notes of another watcher', isMany: true },
      { flags: '--witness', about: 'confirm checkpoints that the logs send (C2SP tlog-witness)' },
      { flags: '--listen <address>', about: 'where the witness listens', default: '127.0.0.1:8420' },
      { flags: '--name <name>', about: 'the name of the witness, such as watch.example.com/w1' },
      { flags: '--key-file <file>', about: 'the private key of the witness: Ed25519, PKCS#8, PEM' },
    ],
    run: watch,
  },
  {
    name: 'audit compare',
    summary: 'Tell whether a log has signed two notes of one history',
    notes: 'Ends with 0 when the larger tree begins with the smaller one, and with 1 when it does not.',
    isLocal: true,
    args: [
      { name: 'note', about: 'a file with a note' },
      { name: 'other', about: 'a file with another note' },
    ],
    examples: ['behest audit compare mine.note theirs.note --vkey "$LOG_VKEY"'],
    options: [
      { flags: '--log <url>', about: 'the address of the log, which notes of different sizes need' },
      VKEYS,
    ],
    run: compareFiles,
  },
];

async function watch(context: Context, given: Given): Promise<number> {
  const seconds = (name: string) => secondsOf(context, given, name);
  const logs = await logsOf(context, given);
  const everySeconds = seconds('every') ?? 60;
  const state = textOf(given, 'state');
  const notes = keptNotes(
    state === undefined ? join(dirname(userFile(context.io)), 'watched') : resolve(context.io.folder, state),
  );
  const watcher = createWatcher(context, notes, {
    ...{ recheckSeconds: seconds('recheck') ?? 10, maxQuietSeconds: seconds('maxQuiet') },
    ...{ peers: textsOf(given, 'peer'), exec: textOf(given, 'exec'), webhook: textOf(given, 'webhook') },
  });
  const stop = isSet(given, 'witness')
    ? await startWitness({ context, given, logs, notes, watcher })
    : undefined;
  try {
    for (;;) {
      const outcomes: string[] = [];
      for (const log of logs) outcomes.push(await watcher.look(log));
      if (isSet(given, 'once')) {
        if (outcomes.includes('alarm')) return EXIT.no;
        return outcomes.includes('unreachable') ? EXIT.unavailable : EXIT.done;
      }
      await sleep(everySeconds * 1000, undefined, { signal: context.io.signal });
    }
  } finally {
    stop?.();
  }
}

/** The logs to watch. A log is named like its address, unless its key says otherwise. */
async function logsOf(context: Context, given: Given): Promise<WatchedLog[]> {
  const named = textsOf(given, 'log');
  // An account's own log is asked for with its key, and watched without.
  const own = named.length === 0 ? [(await (await context.client()).transparency.get()).url] : [];
  const urls = [...named, ...own].map((text) => text.replace(/\/$/, ''));
  const wrong = urls.find((url) => !/^https?:$/.test(URL.parse(url)?.protocol ?? ''));
  if (wrong !== undefined)
    throw wrongUsage(`--log has to be the address of a log, and is "${wrong}".`, context.help);
  const keys = keysIn(context, given);
  return urls.map((url) => {
    const address = url.slice(url.indexOf('://') + 3);
    const only = urls.length === 1 ? keys[0]?.name : undefined;
    const origin = keys.some(({ name }) => name === address) ? address : (only ?? address);
    const service = url.includes('/log/') ? url.slice(0, url.lastIndexOf('/log/')) : url;
    const didUrl = textOf(given, 'did') ?? `${service}/.well-known/did.json`;
    return { url, origin, pinned: keys.filter(({ name }) => name === origin), didUrl };
  });
}

function keysIn(context: Context, given: Given): NoteKey[] {
  return textsOf(given, 'vkey').map((text) => {
    const key = readVkey(text.trim(), sha256);
    if (!key) throw wrongUsage(`--vkey has to be a key as C2SP writes it, and is "${text}".`, context.help);
    return key;
  });
}

interface Witnessing {
  readonly context: Context;
  readonly given: Given;
  readonly logs: readonly WatchedLog[];
  readonly notes: KeptNotes;
  readonly watcher: Watcher;
}

/** @returns what ends the witness */
async function startWitness({ context, given, logs, notes, watcher }: Witnessing): Promise<() => void> {
  const name = textOf(given, 'name');
  const file = textOf(given, 'keyFile');
  if (name === undefined || file === undefined)
    throw wrongUsage('A witness needs --name and --key-file.', context.help);
  const secret = secretIn(context, file);
  const publicKey = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
  const key = noteKey(name, { type: WITNESS_KEY, publicKey }, sha256);
  if (!readVkey(vkeyOf(key), sha256))
    throw wrongUsage('--name may have no space and no plus sign.', context.help);
  const listen = textOf(given, 'listen') ?? '';
  const [host, port] = [
    listen.slice(0, listen.lastIndexOf(':')),
    Number(listen.slice(listen.lastIndexOf(':') + 1)),
  ];
  if (host === '' || !Number.isInteger(port) || port < 0 || port > 65_535)
    throw wrongUsage('--listen has to be a host and a port.', context.help);
  const server = serveWitness(
    {
      ...{ key, notes, sign: (message: Uint8Array) => sign(null, message, secret) },
      keysOf(origin) {
        const log = logs.find((each) => each.origin === origin);
        return log && (log.pinned.length > 0 ? log.pinned : notes.keysOf(origin));
      },
      onAlarm: (alarm, origin) => void watcher.tell(alarm, origin),
    },
    logs.map(({ origin }) => origin),
  );
  server.listen(port, host.replace('[', '').replace(']', ''));
  await once(server, 'listening');
  const address = server.address();
  const bound = typeof address === 'object' && address ? address.port : port;
  context.note(`witness ${vkeyOf(key)}\nlistens at http://${host}:${bound}`);
  return () => {
    server.close();
    server.closeAllConnections();
  };
}

function secretIn(context: Context, file: string): KeyObject {
  const text = readText(resolve(context.io.folder, file));
  try {
    const secret = createPrivateKey(text);
    if (secret.asymmetricKeyType === 'ed25519') return secret;
  } catch {
    // said below, without the text: it may be a secret of another kind
  }
  throw wrongUsage(
    `${file} has to be an Ed25519 private key in PKCS#8 PEM: openssl genpkey -algorithm ed25519`,
    context.help,
  );
}

async function compareFiles(context: Context, given: Given): Promise<number> {
  const keys = keysIn(context, given);
  const [one, other] = given.args.map((file) => noteIn(context, file, keys));
  if (!one || !other) throw wrongUsage('Two notes are compared.', context.help);
  const sizes = [one.head.size, other.head.size];
  const report = { origin: one.head.origin, sizes, signed: keys.length > 0 };
  if (one.head.origin !== other.head.origin) {
    await context.one({ ...report, result: 'other_log', other: other.head.origin });
    return EXIT.no;
  }
  const url = textOf(given, 'log')?.replace(/\/$/, '');
  if (url === undefined && sizes[0] !== sizes[1])
    throw wrongUsage(
      'Notes of different sizes are compared by the tiles of the log: add --log.',
      context.help,
    );
  const [older, newer] = one.head.size <= other.head.size ? [one, other] : [other, one];
  try {
    await compare({ url: url ?? '' }, newer, older, context.io);
    await context.one({ ...report, result: 'one_history' });
    return EXIT.done;
  } catch (error) {
    if (!(error instanceof Alarm)) throw error;
    await context.one({ ...report, result: error.kind, reason: error.message });
    return EXIT.no;
  }
}

function noteIn(context: Context, file: string, keys: readonly NoteKey[]): KeptNote {
  const note = readText(resolve(context.io.folder, file));
  const read = readNote(note);
  const head = read && readCheckpointText(read.text);
  if (!read || !head) throw wrongUsage(`${file} is not a note of a log.`, context.help);
  // Anybody can write a note, so without the key of the log a difference accuses nobody.
  if (keys.length > 0 && !verifyNote(read, keys, verifyEd25519).ok)
    throw wrongUsage(`${file} is not signed with --vkey.`, context.help);
  return { head, note };
}

function secondsOf(context: Context, given: Given, name: string): number | undefined {
  const text = textOf(given, name);
  if (text === undefined) return undefined;
  const seconds = parseDuration(text);
  if (seconds === undefined || seconds > 86_400 * 366)
    throw wrongUsage(`"${text}" is not a duration such as 60s, 5m or 24h.`, context.help);
  return seconds;
}
