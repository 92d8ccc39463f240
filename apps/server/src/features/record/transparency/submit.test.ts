import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto';
import type { RequestListener } from 'node:http';
import { verifyConsistency } from '@behest/protocol/merkle';
import {
  checkpointText,
  cosignatureBytes,
  cosignatureMessage,
  decodeBase64,
  LOG_KEY,
  type NoteKey,
  noteKey,
  readAddCheckpoint,
  readCheckpointText,
  readNote,
  readVkey,
  signatureLine,
  verifyNote,
  vkeyOf,
  WITNESS_KEY,
  writeNote,
} from '@behest/protocol/signed-note';
import { describe, expect, test } from 'vitest';
import { registerAgent } from '../../../../test/app/flow.ts';
import { tamper } from '../../../../test/app/many-entries.ts';
import { startReceiver } from '../../../../test/app/receiving.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { witnessList } from './submit.ts';
import { sha256, verifyEd25519 } from './transparency.rules.ts';

const KEY = String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
const TIME = 1_769_949_400;

function keyPair(name: string, type: NoteKey['type'] = WITNESS_KEY): { key: NoteKey; secret: KeyObject } {
  const { privateKey: secret, publicKey } = generateKeyPairSync('ed25519');
  const raw = publicKey.export({ format: 'der', type: 'spki' }).subarray(-32);
  return { secret, key: noteKey(name, { type, publicKey: new Uint8Array(raw) }, sha256) };
}

interface Cosigning {
  readonly time?: number;
  readonly signedTime?: number;
  readonly text?: (text: string) => string;
}

/** A service with one witness, that of the test, and a live account whose log has some entries. */
async function startWitnessed() {
  const { key, secret } = keyPair('witness.example/w1');
  const receiver = await startReceiver();
  const env = {
    ED25519_PRIVATE_KEY: KEY,
    TRANSPARENCY_WITNESSES: `${vkeyOf(key)} http://127.0.0.1:${receiver.port}/w1/`,
  };
  const service = await startApp({ env });
  const acme = await service.asDeveloper({ mode: 'live' });
  await grow(acme, 2);
  const { origin } = await stateOf(acme);
  const submissions = () => receiver.received.map(({ body }) => readAddCheckpoint(body));
  /** Of this account: the database has those of other tests. */
  const sent = () => submissions().filter((each) => each?.note.startsWith(`${origin}\n`));
  const submit = () => service.runJob('transparency witnesses');
  const answer = (status: number, body: string, type = 'text/plain') =>
    receiver.answer(
      (_request, response) => void response.writeHead(status, { 'content-type': type }).end(body),
    );
  const cosign = (
    { time = TIME, signedTime = time, text = (same) => same }: Cosigning = {},
    by = { key, secret },
  ) =>
    receiver.answer((_request, response) => {
      const note = readNote(submissions().at(-1)?.note ?? '');
      const signature = sign(null, cosignatureMessage(signedTime, text(note?.text ?? '')), by.secret);
      response.end(signatureLine({ ...by.key, bytes: cosignatureBytes(time, signature) }));
    });
  return { service, acme, env, key, receiver, submissions, sent, submit, answer, cosign };
}

/** Makes entries, and has them in the log. */
async function grow(acme: Developer, entries: number): Promise<void> {
  for (let made = 0; made < entries; made += 1) await registerAgent(acme, `Agent ${made}`);
  await stateOf(acme);
}

const stateOf = async (acme: Developer) => (await acme('GET', '/v1/transparency')).json();
const publicNote = async ({ app }: Service, acme: Developer) => {
  const { url } = await stateOf(acme);
  return (await app.inject({ method: 'GET', url: `${new URL(url).pathname}/checkpoint` })).body;
};

test('a witness gets the newest note once in an interval, and its signature is served with the note', async () => {
  const { service, acme, key, receiver, sent, submit, cosign } = await startWitnessed();
  const first = await stateOf(acme);
  cosign();

  await submit();

  expect(new Set(receiver.received.map(({ path }) => path))).toEqual(new Set(['/w1/add-checkpoint']));
  expect(sent()).toEqual([
    { oldSize: 0, proof: [], note: (await publicNote(service, acme)).split(`— ${key.name}`)[0] },
  ]);
  const witness = {
    name: key.name,
    treeSize: first.treeSize,
    cosignedAt: new Date(TIME * 1000).toISOString(),
    error: null,
  };
  expect((await stateOf(acme)).witnesses).toEqual([witness]);
  const note = readNote(await publicNote(service, acme));
  const logKey = readVkey(first.vkey, sha256);
  if (!note || !logKey) throw new Error('There is a note, and a key.');
  expect(verifyNote(note, [logKey, key], verifyEd25519)).toEqual({
    ok: true,
    signatures: [{ key: logKey }, { key, time: TIME }],
  });

  await grow(acme, 5);
  await submit();
  expect(sent()).toHaveLength(1);
  service.advance(300);
  await submit();
  await submit();
  expect(sent()).toHaveLength(2);
  const [, second] = sent();
  const head = readCheckpointText(readNote(second?.note ?? '')?.text ?? '');
  if (!second || !head) throw new Error('A second note was sent.');
  const oldRoot = decodeBase64(first.rootHash) ?? new Uint8Array();
  const claim = { oldSize: second.oldSize, oldRoot, size: head.size, root: head.root, proof: second.proof };
  expect(second.oldSize).toBe(first.treeSize);
  expect(head.size).toBe(first.treeSize + 5);
  expect(verifyConsistency(claim, sha256)).toBe(true);
  service.advance(300);
  await submit();
  expect(sent()).toHaveLength(2); // the witness knows all
});

test('a sandbox account, and a log without a key, are sent to nobody', async () => {
  const { service, submissions, sent, submit, env } = await startWitnessed();
  const sandbox = await service.asDeveloper({ mode: 'sandbox' });
  await grow(sandbox, 1);
  const { ED25519_PRIVATE_KEY: _, ...keyless } = env;
  const other = await startApp({ env: keyless });
  const unsigned = await other.asDeveloper({ mode: 'live' });
  await grow(unsigned, 1);

  await submit();
  await other.runJob('transparency witnesses');

  expect(sent()).toHaveLength(1);
  const { origin } = await stateOf(sandbox);
  const origins = submissions().map((each) => each?.note.split('\n')[0]);
  expect(origins).not.toContain(origin);
  expect(origins).not.toContain((await stateOf(unsigned)).origin);
});

test('of two processes one sends', async () => {
  const { service, sent, env, cosign } = await startWitnessed();
  const other = await startApp({ env, databaseUrl: service.databaseUrl });
  cosign();

  await Promise.all([service, other, service, other].map(({ runJob }) => runJob('transparency witnesses')));

  expect(sent()).toHaveLength(1);
});

describe('the answer of a witness', () => {
  test('409 with a size that the log has had makes the service send again at once, from that size', async () => {
    const { acme, receiver, sent, submit, key } = await startWitnessed();
    const { treeSize } = await stateOf(acme);
    receiver.answer((_request, response) => {
      if (sent().length === 1) response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end('1\n');
      else response.writeHead(500).end();
    });

    await submit();

    expect(sent().map((each) => each?.oldSize)).toEqual([0, 1]);
    expect((await stateOf(acme)).witnesses).toEqual([
      { name: key.name, treeSize: 1, cosignedAt: null, error: 'status_500' },
    ]);
    expect(treeSize).toBeGreaterThan(1);
  });

  test.each([
    ['409 with a size above that of the log', 409, '1000\n', 'text/x.tlog.size'],
    ['409 with the very size from which the proof leads', 409, '0\n', 'text/x.tlog.size'],
    ['422', 422, 'no\n', 'text/plain'],
  ])('%s is told to everybody whom it concerns, and stops nothing', async (_, status, body, type) => {
    const { service, acme, key, sent, submit, answer, cosign } = await startWitnessed();
    const witnessOf = async () => (await stateOf(acme)).witnesses[0];
    const events = async () =>
      (await acme('GET', '/v1/events?limit=500'))
        .json()
        .events.filter((event: { type: string }) => event.type === 'transparency.contradicted');
    const counted = async () =>
      /^transparency_contradicted (\d+)$/m.exec((await service.app.inject('/metrics')).body)?.[1];
    const { origin, treeSize } = await stateOf(acme);
    answer(status, body, type);

    await submit();

    expect(await witnessOf()).toMatchObject({ error: 'contradicted', cosignedAt: null });
    expect((await events()).map(({ data }: { data: object }) => data)).toEqual([
      { origin, witness: key.name, size: treeSize },
    ]);
    expect(Number(await counted())).toBeGreaterThan(0);
    await grow(acme, 2);
    expect(await stateOf(acme)).toMatchObject({ halted: null });
    const head = readCheckpointText(readNote(await publicNote(service, acme))?.text ?? '');
    expect(head?.size).toBeGreaterThan(treeSize);
    service.advance(60);
    await submit();
    expect(sent()).toHaveLength(2);
    expect(await events()).toHaveLength(1);

    cosign();
    service.advance(120);
    await submit();
    expect(await witnessOf()).toMatchObject({ error: null, cosignedAt: new Date(TIME * 1000).toISOString() });
  });

  test('stops the log when its witness has a note of another history that the log has signed', async () => {
    const { service, acme, receiver, sent, submit } = await startWitnessed();
    const { origin } = await stateOf(acme);
    const serve = (note: string) =>
      receiver.answer(({ method, url }, response) => {
        if (method === 'POST') response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end('9\n');
        else if (url?.endsWith('/checkpoint')) response.end(note);
        else response.writeHead(404).end();
      });
    const noteBy = (secret: KeyObject) => {
      const raw = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
      const key = noteKey(origin, { type: LOG_KEY, publicKey: new Uint8Array(raw) }, sha256);
      const text = checkpointText({ origin, size: 9, root: sha256(Buffer.from('another history')) });
      return writeNote({ text, signatures: [{ ...key, bytes: sign(null, Buffer.from(text), secret) }] });
    };

    serve(noteBy(generateKeyPairSync('ed25519').privateKey));
    await submit();
    expect(await stateOf(acme)).toMatchObject({ halted: null, witnesses: [{ error: 'contradicted' }] });

    serve(noteBy(createPrivateKey(KEY)));
    service.advance(60);
    await submit();
    expect(await stateOf(acme)).toMatchObject({ halted: 'witness' });
    service.advance(100_000);
    await submit();
    expect(sent()).toHaveLength(2);
  });

  test('is asked for again where the kept size was changed', async () => {
    const { service, acme, sent, submit, cosign } = await startWitnessed();
    const values = [acme.developerId];
    cosign();
    await submit();
    await tamper(
      service.databaseUrl,
      'update tlog_witnesses set size = 1000 where developer_id = $1',
      values,
    );
    service.advance(300);

    await submit();

    expect(sent().map((each) => each?.oldSize)).toEqual([0, 0]);
    const { treeSize, witnesses } = await stateOf(acme);
    expect(witnesses).toMatchObject([{ treeSize, error: null }]);
  });

  test('is asked for of all logs, also after one that has lost its tiles', async () => {
    const { service, acme, submissions, submit, cosign } = await startWitnessed();
    const other = await service.asDeveloper({ mode: 'live' });
    await grow(other, 2);
    const [first = acme, second = other] = [acme, other].sort((one, two) =>
      one.developerId < two.developerId ? -1 : 1,
    );
    cosign();
    await submit();
    await Promise.all([grow(first, 2), grow(second, 2)]);
    await tamper(service.databaseUrl, 'delete from tlog_tiles where developer_id = $1', [first.developerId]);
    service.advance(300);

    await submit();

    const { origin } = await stateOf(second);
    expect(submissions().filter((each) => each?.note.startsWith(`${origin}\n`))).toHaveLength(2);
  });

  test.each([[403], [404]])('%i is repeated after a day', async (status) => {
    const { service, acme, sent, submit, answer, key } = await startWitnessed();
    answer(status, 'unknown log\n');

    await submit();
    service.advance(86_399);
    await submit();
    expect(sent()).toHaveLength(1);
    service.advance(1);
    await submit();
    expect(sent()).toHaveLength(2);
    expect((await stateOf(acme)).witnesses).toEqual([
      { name: key.name, treeSize: 0, cosignedAt: null, error: 'not_followed' },
    ]);
  });

  const large: RequestListener = (_request, response) => void response.end('x'.repeat(70_000));
  const redirect: RequestListener = (_request, response) =>
    void response.writeHead(307, { location: '/' }).end();
  const foreignSize: RequestListener = (_request, response) =>
    void response.writeHead(409, { 'content-type': 'text/x.tlog.size' }).end('01\n');
  const plainSize: RequestListener = (_request, response) =>
    void response.writeHead(409, { 'content-type': 'text/plain' }).end('1000\n');
  test.each([
    ['500', 'status_500', ((_, response) => void response.writeHead(500).end()) satisfies RequestListener],
    ['a redirect', 'status_307', redirect],
    ['too long', 'too_large', large],
    ['409 with a size in another form', 'status_409', foreignSize],
    ['409 of another type', 'status_409', plainSize],
    [
      '200 without a signature',
      'bad_cosignature',
      ((_, response) => void response.end('thanks\n')) satisfies RequestListener,
    ],
  ])('that is %s is repeated after a minute, then after two, at most an hour', async (_, error, listener) => {
    const { service, acme, receiver, sent, submit } = await startWitnessed();
    receiver.answer(listener);
    const seconds = [60, 120, 240, 480, 960, 1920, 3600, 3600];

    await submit();
    for (const [at, pause] of seconds.entries()) {
      service.advance(pause - 1);
      await submit();
      expect(sent()).toHaveLength(at + 1);
      service.advance(1);
      await submit();
      expect(sent()).toHaveLength(at + 2);
    }
    expect((await stateOf(acme)).witnesses).toMatchObject([{ treeSize: 0, error }]);
  });

  test.each([
    ['another key', {}, 'witness.example/w1'],
    ['another name', {}, 'witness.example/w2'],
    ['another time than it says', { signedTime: TIME + 1 }, undefined],
    ['another log', { text: (text: string) => text.replace('auth.test', 'other.test') }, undefined],
    ['another size', { text: (text: string) => text.replace(/\n\d+\n/, '\n9\n') }, undefined],
  ] as const)('with a signature of %s is not served', async (_, how, name) => {
    const { service, acme, submit, cosign } = await startWitnessed();
    cosign(how, name === undefined ? undefined : keyPair(name));

    await submit();

    expect((await stateOf(acme)).witnesses).toMatchObject([
      { treeSize: 0, cosignedAt: null, error: 'bad_cosignature' },
    ]);
    expect(readNote(await publicNote(service, acme))?.signatures).toHaveLength(1);
  });
});

describe('TRANSPARENCY_WITNESSES', () => {
  const { key } = keyPair('w.example/1');
  const read = (text: string) =>
    witnessList.read(text, { name: 'TRANSPARENCY_WITNESSES', isProduction: true });

  test('is a list of keys with their addresses', () => {
    const other = keyPair('w.example/2').key;
    expect(read(`${vkeyOf(key)} https://w.example/a/, ${vkeyOf(other)} http://localhost:8420`)).toEqual([
      { key, url: 'https://w.example/a' },
      { key: other, url: 'http://localhost:8420' },
    ]);
  });

  test('is refused when an entry is none', () => {
    const log = keyPair('w.example/1', LOG_KEY).key;
    for (const wrong of [
      ...[
        '',
        vkeyOf(key),
        `https://w.example ${vkeyOf(key)}`,
        `${vkeyOf(key)} w.example`,
        `${vkeyOf(log)} https://w.example`,
      ],
      ...[
        `${vkeyOf(key)} http://w.example`,
        `${vkeyOf(key)} https://w.example/?a=1`,
        `${vkeyOf(key)} https://w.example#a`,
      ],
      ...[
        `${vkeyOf(key)} https://w.example more`,
        `${vkeyOf(key).slice(1)} https://w.example`,
        `${vkeyOf(key)} https://w.example,`,
      ],
      `${vkeyOf(key)} https://w.example,${vkeyOf(key)} https://w.example`,
    ]) {
      expect({ wrong, read: read(wrong) }).toEqual({ wrong, read: undefined });
    }
  });
});
