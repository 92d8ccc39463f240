import { createHash, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { consistencyRanges } from '@behest/protocol/merkle';
import {
  extendTiles,
  proofOf,
  readTilePath,
  rootOf,
  type Tile,
  tileKey,
  tilesByKey,
} from '@behest/protocol/merkle-tiles';
import {
  checkpointText,
  LOG_KEY,
  type NoteKey,
  noteKey,
  readCheckpointText,
  readNote,
  readSignatures,
  readVkey,
  verifyNote,
  vkeyOf,
  writeAddCheckpoint,
  writeNote,
} from '@behest/protocol/signed-note';
import { describe, expect, onTestFinished, test } from 'vitest';
import { registerAgent } from '../../apps/server/test/app/flow.ts';
import { tamper } from '../../apps/server/test/app/many-entries.ts';
import { startApp } from '../../apps/server/test/app/start-app.ts';
import { freePort } from '../../apps/server/test/servers/start-server.ts';
import { verifyEd25519 } from '../../packages/cli/src/transparency/log-client.ts';
import { newMachine } from './program.ts';

const sha256 = (bytes: Uint8Array): Uint8Array => createHash('sha256').update(bytes).digest();
const leavesOf = (text: string, count: number) =>
  Array.from({ length: count }, (_, index) => sha256(Buffer.from(`\0${text} ${index}`)));

interface Pair {
  readonly secret: KeyObject;
  readonly publicKey: Uint8Array;
  readonly jwk: object;
}

function newPair(): Pair {
  const { privateKey: secret, publicKey } = generateKeyPairSync('ed25519');
  const jwk = publicKey.export({ format: 'jwk' });
  return { secret, jwk, publicKey: new Uint8Array(Buffer.from(String(jwk.x), 'base64url')) };
}

/** A log that can be made to lie: what it says is in its members. */
async function startLog() {
  const log = {
    pair: newPair(),
    published: [] as object[],
    leaves: leavesOf('entry', 300),
    origin: '',
    url: '',
    /** Takes the place of the note. */
    note: undefined as string | undefined,
    isDown: false,
    isGone: false,
    tiles(size?: number): Map<string, Tile> {
      return tilesByKey(extendTiles({ size: 0, edge: new Map(), leaves: log.leaves.slice(0, size) }, sha256));
    },
    key: (): NoteKey => noteKey(log.origin, { type: LOG_KEY, publicKey: log.pair.publicKey }, sha256),
    noteAt(size: number): string {
      const root = rootOf({ start: 0, end: size }, log.tiles(size), sha256);
      const text = checkpointText({ origin: log.origin, size, root });
      return writeNote({
        text,
        signatures: [{ ...log.key(), bytes: sign(null, Buffer.from(text), log.pair.secret) }],
      });
    },
    submission(oldSize: number, size: number, note?: string): string {
      const proof = proofOf(consistencyRanges(oldSize, size), log.tiles(size), sha256);
      return writeAddCheckpoint({ oldSize, proof, note: note ?? log.noteAt(size) });
    },
  };
  log.published = [log.pair.jwk];
  const server = createServer((request, response) => {
    const path = request.url?.split('/log/1/')[1];
    const tile = readTilePath(path ?? '');
    const found = tile && log.tiles().get(tileKey(tile));
    if (log.isDown) response.writeHead(503).end();
    else if (request.url === '/.well-known/did.json')
      response.end(
        JSON.stringify({ verificationMethod: log.published.map((publicKeyJwk) => ({ publicKeyJwk })) }),
      );
    else if (path === 'checkpoint' && !log.isGone) response.end(log.note ?? log.noteAt(log.leaves.length));
    else if (found) response.end(found.hashes.subarray(0, tile.width * 32));
    else response.writeHead(404).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  log.origin = `127.0.0.1:${port}/log/1`;
  log.url = `http://${log.origin}`;
  return log;
}

/** A watcher with a folder of its own. */
async function startWatcher() {
  const log = await startLog();
  const { run, folder } = newMachine();
  const state = join(folder, 'watched');
  const look = async (...words: string[]) => {
    const ran = await run([
      ...['audit', 'watch', '--log', log.url, '--state', state, '--once', '--recheck', '1s'],
      ...words,
    ]);
    const alarms = ran.out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    return { code: ran.code, alarms, kinds: alarms.map(({ alarm }) => alarm), err: ran.err };
  };
  const kept = () => {
    const file = readdirSync(state).find((name) => name.endsWith('.note'));
    return readFileSync(join(state, file ?? ''), 'utf8');
  };
  return { log, run, folder, state, look, kept };
}

describe('behest audit watch', () => {
  test('keeps the newest note of a log that only grows', async () => {
    const { log, look, kept } = await startWatcher();

    expect(await look()).toMatchObject({ code: 0, alarms: [] });
    expect(kept()).toBe(log.noteAt(300));
    expect((await look()).code).toBe(0);
    log.leaves = [...log.leaves, ...leavesOf('later', 700)];
    expect((await look()).code).toBe(0);
    expect(kept()).toBe(log.noteAt(1000));
  });

  test('finds another tree of the same size, and keeps both notes as proof', async () => {
    const { log, look, kept } = await startWatcher();
    await look();
    const [honest, changed] = [log.noteAt(300), log.leaves.with(7, sha256(Buffer.from('changed')))];
    log.leaves = changed;

    const { code, alarms } = await look();

    expect({ code, alarms }).toMatchObject({ code: 1, alarms: [{ alarm: 'fork', origin: log.origin }] });
    const { notes } = JSON.parse(readFileSync(alarms[0].evidence, 'utf8'));
    expect(notes).toEqual([honest, log.noteAt(300)]);
    for (const note of notes) {
      const read = readNote(note);
      expect(read && verifyNote(read, [log.key()], verifyEd25519).ok).toBe(true);
    }
    expect(kept()).toBe(honest);
  });

  test('finds a changed entry below a tree that has grown, and a restored copy that went another way', async () => {
    const { log, look, kept } = await startWatcher();
    const honest = log.leaves;
    await look();
    const before = kept();

    log.leaves = [...honest.with(299, sha256(Buffer.from('changed'))), ...leavesOf('later', 10)];
    expect(await look()).toMatchObject({ code: 1, kinds: ['fork'] });
    log.leaves = [...honest.slice(0, 250), ...leavesOf('after the restore', 300)];
    expect(await look()).toMatchObject({ code: 1, kinds: ['fork'] });
    expect(kept()).toBe(before);
  });

  test('finds a smaller tree when it stays small, and not when a cache was late', async () => {
    const { log, look, kept } = await startWatcher();
    await look();
    const late = log.noteAt(299);

    log.note = late;
    setTimeout(() => (log.note = undefined), 300);
    expect(await look()).toMatchObject({ code: 0, kinds: [] });
    log.leaves = log.leaves.slice(0, 299);
    expect(await look()).toMatchObject({ code: 1, kinds: ['rollback'] });
    expect(readCheckpointText(readNote(kept())?.text ?? '')?.size).toBe(300);
  });

  test('finds a note that the log has not signed, or that has another name', async () => {
    const { log, look } = await startWatcher();
    await look();
    const [note, other] = [log.noteAt(300), newPair()];

    for (const changed of [note.replace('\n300\n', '\n301\n'), 'nothing', '', note.split('\n\n')[0] ?? '']) {
      log.note = changed;
      expect(await look()).toMatchObject({ code: 1, kinds: ['bad_signature'] });
    }
    log.note = note.replaceAll(log.origin, 'auth.example.test/log/2');
    expect(await look()).toMatchObject({ code: 1, kinds: ['origin_changed'] });
    log.note = undefined;
    log.pair = other;
    expect(await look()).toMatchObject({ code: 1, kinds: ['key_changed'] });
  });

  test('takes a new key that the DID document names as a notice, unless the operator has given the key', async () => {
    const { log, look } = await startWatcher();
    const pinned = vkeyOf(log.key());
    await look();
    log.pair = newPair();
    log.published = [log.pair.jwk];

    expect(await look('--vkey', pinned)).toMatchObject({ code: 1, kinds: ['key_changed'] });
    const { code, alarms } = await look();
    expect({ code, alarms }).toEqual({ code: 0, alarms: [{ notice: 'key_changed', origin: log.origin }] });
    expect(await look()).toMatchObject({ code: 0, alarms: [] });
  });

  test('does not trust the first note of a log that does not serve its tree', async () => {
    const { log, look, state } = await startWatcher();
    log.note = log.noteAt(300);
    log.leaves = log.leaves.with(0, sha256(Buffer.from('changed')));

    expect(await look()).toMatchObject({ code: 1, kinds: ['tiles'] });
    expect(readdirSync(state).filter((name) => name.endsWith('.note'))).toEqual([]);
  });

  test('accuses nobody of a fork for tiles that somebody has changed on the way', async () => {
    const { log, look, kept } = await startWatcher();
    await look();
    log.leaves = [...log.leaves, ...leavesOf('later', 300)];
    log.note = log.noteAt(600);
    const honest = log.leaves;

    for (const at of [0, 299, 310, 599]) {
      log.leaves = honest.with(at, sha256(Buffer.from('changed')));
      expect(await look()).toMatchObject({ code: 1, kinds: ['tiles'] });
    }
    log.leaves = honest.slice(0, 300);
    expect(await look()).toMatchObject({ code: 1, kinds: ['tiles'] });
    setTimeout(() => (log.leaves = honest), 300);
    expect(await look()).toMatchObject({ code: 0, kinds: [] });
    expect(kept()).toBe(log.noteAt(600));
  });

  test('finds that a log is gone which it has seen', async () => {
    const { log, look } = await startWatcher();
    log.isGone = true;
    expect(await look()).toMatchObject({ code: 8, kinds: [] });
    log.isGone = false;
    expect((await look()).code).toBe(0);
    log.isGone = true;
    expect(await look()).toMatchObject({ code: 1, kinds: ['gone'] });
  });

  test('ends with 8 where there is no answer, and says where', async () => {
    const { log, look } = await startWatcher();
    log.isDown = true;

    const { code, alarms, err } = await look();

    expect({ code, alarms }).toEqual({ code: 8, alarms: [] });
    expect(err).toContain(`${log.url}/checkpoint answers 503.`);
  });

  test('goes on, and gives an alarm once when a log stands still', async () => {
    const { log, run, state } = await startWatcher();
    const ending = new AbortController();
    let looks = 0;
    const words = ['--every', '1s', '--max-quiet', '1s', '--exec', `cat >> '${state}.heard'`];

    const { out } = await run(['audit', 'watch', '--log', log.url, '--state', state, ...words], {
      signal: ending.signal,
      fetch: (...args) => {
        looks += String(args[0]).endsWith('/checkpoint') ? 1 : 0;
        if (looks === 4) ending.abort();
        return fetch(...args);
      },
    });

    const [alarm, ...more] = out
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line));
    expect(alarm).toMatchObject({ alarm: 'stalled', origin: log.origin });
    expect(more).toEqual([]);
    expect(readFileSync(`${state}.heard`, 'utf8')).toBe(out);
  }, 20_000);

  test('compares with another watcher, and finds that the log showed it something else', async () => {
    const { log, look, folder } = await startWatcher();
    const shown = { other: '' };
    const peer = createServer((_, response) => response.end(shown.other)).listen(0, '127.0.0.1');
    await once(peer, 'listening');
    onTestFinished(() => void peer.close());
    const address = peer.address();
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}/`;

    shown.other = log.noteAt(120);
    expect((await look('--peer', url)).code).toBe(0);
    shown.other = log.noteAt(120).replace('\n120\n', '\n121\n'); // nobody has signed this
    expect(await look('--peer', url)).toMatchObject({ code: 8, kinds: [] });
    const honest = log.leaves;
    log.leaves = honest.with(3, sha256(Buffer.from('shown to one')));
    shown.other = log.noteAt(120);
    log.leaves = honest;
    expect(await look('--peer', url)).toMatchObject({ code: 1, kinds: ['fork'] });
    expect(existsSync(folder)).toBe(true);
  });

  test('refuses what it cannot watch', async () => {
    const { look, run } = await startWatcher();

    for (const words of [
      ['--vkey', 'none'],
      ['--every', '1.5s'],
      ['--log', 'file:///etc/passwd'],
      ['--witness'],
    ]) {
      expect({ words, code: (await look(...words)).code }).toEqual({ words, code: 2 });
    }
    expect((await run(['audit', 'watch', '--once'])).code).toBe(3); // no log is named, and there is no key to ask for one
  });
});

/** The tables of a log and its chain. */
const TABLES = [
  'audit_entries',
  'audit_heads',
  'tlog_logs',
  'tlog_tiles',
  'tlog_checkpoints',
  'outbox_events',
];

test('a database that was brought back from a backup deceives the service, and not the watcher', async () => {
  const key = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' });
  const port = await freePort();
  const [listen, publicUrl] = [{ port, host: '127.0.0.1' }, `http://localhost:${port}`];
  const options = { env: { ED25519_PRIVATE_KEY: String(key), PUBLIC_BASE_URL: publicUrl } };
  const service = await startApp(options);
  await service.app.listen(listen);
  const { databaseUrl } = service;
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { run, folder } = newMachine({ BEHEST_URL: publicUrl, BEHEST_API_KEY: acme.apiKey });
  const look = async () => {
    const words = ['--once', '--recheck', '1s', '--state', join(folder, 'watched')];
    const { code, out, err } = await run(['audit', 'watch', ...words]);
    return {
      code,
      kinds: out
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line).alarm),
      err,
    };
  };
  await registerAgent(acme, 'before the backup');
  expect(await look()).toMatchObject({ code: 0, kinds: [] });
  for (const table of TABLES) await tamper(databaseUrl, `create table backup_of_${table} as table ${table}`);
  await registerAgent(acme, 'after the backup');
  await registerAgent(acme, 'and one more');
  expect(await look()).toMatchObject({ code: 0, kinds: [] });

  await service.stop();
  for (const table of TABLES) {
    await tamper(databaseUrl, `truncate ${table} cascade`);
    await tamper(databaseUrl, `insert into ${table} table backup_of_${table}`);
  }
  const restarted = await startApp({ ...options, databaseUrl });
  await restarted.app.listen(listen);
  const again = restarted.calling(acme.apiKey);

  expect((await again('GET', '/v1/transparency')).json()).toMatchObject({ halted: null });
  expect(await look()).toMatchObject({ code: 1, kinds: ['rollback'] });
  for (const name of ['another', 'history', 'is written']) {
    expect((await again('POST', '/v1/agents', { name })).json()).toMatchObject({ name });
  }
  expect((await again('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  expect((await again('GET', '/v1/transparency')).json()).toMatchObject({ halted: null });
  expect(await look()).toMatchObject({ code: 1, kinds: ['fork'] });
}, 60_000);

describe('the witness of behest audit watch', () => {
  /** A witness that follows one log. */
  async function startWitness() {
    const { log, run, folder, state, kept } = await startWatcher();
    const pair = newPair();
    writeFileSync(join(folder, 'witness.pem'), pair.secret.export({ format: 'pem', type: 'pkcs8' }));
    const ending = new AbortController();
    let said = { out: '', err: '' };
    log.leaves = leavesOf('entry', 10);
    const honest = log.leaves;
    const running = run(
      [
        ...[
          'audit',
          'watch',
          '--log',
          log.url,
          '--state',
          state,
          '--every',
          '1h',
          '--vkey',
          vkeyOf(log.key()),
        ],
        ...['--witness', '--listen', '127.0.0.1:0', '--name', 'w.example/1', '--key-file', 'witness.pem'],
      ],
      { signal: ending.signal, heard: (out, err) => (said = { out, err }) },
    );
    onTestFinished(async () => {
      ending.abort();
      await running;
    });
    await expect.poll(() => said.err, { timeout: 10_000 }).toContain('10 entries, all is well');
    const [, vkey = ''] = /witness (\S+)/.exec(said.err) ?? [];
    const [, url = ''] = /listens at (\S+)/.exec(said.err) ?? [];
    const key = readVkey(vkey, sha256);
    if (!key) throw new Error('The witness says its key.');
    log.leaves = [...honest, ...leavesOf('later', 90)];
    const add = async (body: string) => {
      const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body });
      return { status: answer.status, type: answer.headers.get('content-type'), body: await answer.text() };
    };
    /** The witness's signature over the note of a size, if the answer has a good one. */
    const confirmed = (note: string, body: string) => {
      const read = readNote(note);
      const signatures = readSignatures(body) ?? [];
      return read && verifyNote({ ...read, signatures }, [key], verifyEd25519).ok;
    };
    return { log, url, add, confirmed, kept, honest, said: () => said };
  }

  test('confirms what continues the tree that it knows, and serves its note', async () => {
    const { log, url, add, confirmed, kept } = await startWitness();

    const answer = await add(log.submission(10, 40));

    expect(answer.status).toBe(200);
    expect(confirmed(log.noteAt(40), answer.body)).toBe(true);
    expect(kept()).toBe(log.noteAt(40));
    expect((await add(log.submission(40, 40))).status).toBe(200);
    const name = createHash('sha256').update(log.origin).digest('hex');
    expect(await (await fetch(`${url}/${name}/checkpoint`)).text()).toBe(log.noteAt(40));
    expect((await fetch(`${url}/${'0'.repeat(64)}/checkpoint`)).status).toBe(404);
    expect((await fetch(`${url}/add-checkpoint`)).status).toBe(404);
  });

  test('answers each wrong submission as C2SP says, and keeps its note', async () => {
    const { log, add, kept, honest, said } = await startWitness();
    const before = kept();
    const stranger = writeNote({
      text: log.noteAt(40).split('\n\n')[0]?.concat('\n') ?? '',
      signatures: [{ ...log.key(), keyId: '00000000', bytes: new Uint8Array(64) }],
    });
    const proofless = writeAddCheckpoint({ oldSize: 10, proof: [], note: log.noteAt(40) });

    expect((await add('nothing')).status).toBe(400);
    expect((await add(log.submission(10, 40).replace('old 10', 'old 41'))).status).toBe(400);
    expect((await add(log.submission(10, 40).replaceAll(log.origin, 'other.example/log'))).status).toBe(404);
    expect((await add(log.submission(10, 40, stranger))).status).toBe(403);
    expect(await add(log.submission(0, 40))).toEqual({ status: 409, type: 'text/x.tlog.size', body: '10\n' });
    expect((await add(log.submission(9, 9))).status).toBe(409);
    expect((await add(proofless)).status).toBe(422);
    expect((await add('x'.repeat(100_000))).status).toBe(413);
    expect(said().out).toBe('');
    log.leaves = [...honest.with(2, sha256(Buffer.from('changed'))), ...leavesOf('later', 90)];
    expect((await add(log.submission(10, 40))).status).toBe(422);
    expect((await add(log.submission(10, 10))).status).toBe(409);
    await expect.poll(() => said().out).toContain('"alarm":"fork"');
    expect(kept()).toBe(before);
  });

  test('never confirms a smaller tree after a larger one, however submissions race', async () => {
    const { log, add, confirmed, kept } = await startWitness();
    const sizes = Array.from({ length: 12 }, (_, index) => 20 + index * 5);
    let last = 10;

    for (let round = 0; round < 5; round += 1) {
      const racing = sizes.map((each) => {
        const size = each + round;
        return { size, body: log.submission(Math.min(last, size), size) };
      });
      const answers = await Promise.all(
        racing.map(async ({ size, body }) => ({ size, answer: await add(body) })),
      );
      const won = answers.filter(({ answer }) => answer.status === 200);
      expect(won).toHaveLength(1);
      expect(answers.filter(({ answer }) => answer.status !== 200 && answer.status !== 409)).toEqual([]);
      const [{ size, answer } = { size: 0, answer: { body: '' } }] = won;
      expect(size).toBeGreaterThan(last);
      expect(confirmed(log.noteAt(size), answer.body)).toBe(true);
      expect(kept()).toBe(log.noteAt(size));
      last = size;
      if (last >= 75) break;
    }
  });
});

test('behest audit compare tells one history from two', async () => {
  const log = await startLog();
  const { run, folder } = newMachine();
  const write = (name: string, note: string) => writeFileSync(join(folder, name), note);
  const vkey = ['--vkey', vkeyOf(log.key())];
  write('a.note', log.noteAt(100));
  write('b.note', log.noteAt(300));
  const honest = log.leaves;
  log.leaves = honest.with(50, sha256(Buffer.from('changed')));
  write('forked.note', log.noteAt(100));
  log.leaves = honest;
  write('altered.note', log.noteAt(100).replace('\n100\n', '\n101\n'));
  write('no.note', 'nothing');
  const compare = async (...words: string[]) => {
    const { code, out } = await run(['audit', 'compare', ...words, '--json']);
    return { code, result: out === '' ? undefined : JSON.parse(out).result };
  };

  expect(await compare('a.note', 'a.note', ...vkey)).toEqual({ code: 0, result: 'one_history' });
  expect(await compare('b.note', 'a.note', ...vkey, '--log', log.url)).toEqual({
    code: 0,
    result: 'one_history',
  });
  expect(await compare('a.note', 'forked.note', ...vkey)).toEqual({ code: 1, result: 'fork' });
  expect(await compare('forked.note', 'b.note', ...vkey, '--log', log.url)).toEqual({
    code: 1,
    result: 'fork',
  });
  expect((await compare('a.note', 'b.note', ...vkey)).code).toBe(2); // of two sizes, and no log to ask
  expect((await compare('a.note', 'altered.note', ...vkey)).code).toBe(2);
  expect((await compare('a.note', 'no.note')).code).toBe(2);
  expect((await compare('a.note')).code).toBe(2);
});
