import { generateKeyPairSync, verify } from 'node:crypto';
import type { AuditEntry } from '@behest/protocol/audit-chain';
import { leafOf, partsOf } from '@behest/protocol/audit-parts';
import { nodeHash, verifyConsistency, verifyInclusion } from '@behest/protocol/merkle';
import {
  readCheckpointText,
  readNote,
  readTlogProof,
  readVkey,
  verifyNote,
} from '@behest/protocol/signed-note';
import { describe, expect, test } from 'vitest';
import { grantTo, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { sha256 } from './transparency.rules.ts';

const pem = () => String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
const KEY = pem();
const start = (env: Readonly<Record<string, string>> = {}) =>
  startApp({ env: { ED25519_PRIVATE_KEY: KEY, ...env } });

/** An account with so many entries. */
async function accountWith(service: Service, entries: number): Promise<Developer> {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  for (let agent = 2; agent <= entries; agent += 1) await registerAgent(acme, `Agent ${agent}`);
  return acme;
}

const stateOf = async (acme: Developer) => (await acme('GET', '/v1/transparency')).json();
const inclusionOf = async (acme: Developer, query: string) =>
  (await acme('GET', `/v1/transparency/inclusion?${query}`)).json();
const bytes = (text: string) => Buffer.from(text, 'base64');

/** The root by the definition of RFC 9162, section 2.1.1. */
function rootOfLeaves(leaves: readonly Uint8Array[]): Uint8Array {
  const [first] = leaves;
  if (!first) return sha256(new Uint8Array());
  if (leaves.length === 1) return first;
  let half = 1;
  while (half * 2 < leaves.length) half *= 2;
  return nodeHash(rootOfLeaves(leaves.slice(0, half)), rootOfLeaves(leaves.slice(half)), sha256);
}

interface Entry extends AuditEntry {
  readonly entryId: string;
  readonly hash: string;
  readonly erased?: true;
}

const entriesOf = async (acme: Developer): Promise<Entry[]> =>
  (await acme('GET', '/v1/audit/entries?limit=500')).json().entries;

/** The leaves of an account, made from what its readers see. */
async function leavesOf(acme: Developer): Promise<Uint8Array[]> {
  return (await entriesOf(acme)).map((entry) => leafOf(entry.hash, partsOf(entry, sha256), sha256));
}

function holds(publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array): boolean {
  const x = Buffer.from(publicKey).toString('base64url');
  return verify(null, message, { key: { kty: 'OKP', crv: 'Ed25519', x }, format: 'jwk' }, signature);
}

/** What a note says to somebody who has the key alone. */
function saidBy(note: string, vkey: string) {
  const [signed, key] = [readNote(note), readVkey(vkey, sha256)];
  if (!signed || !key) throw new Error('This is no note, or no key.');
  return { ...readCheckpointText(signed.text), ok: verifyNote(signed, [key], holds).ok };
}

describe('the log of an account', () => {
  test('has every entry that was answered, and a note that anybody can check', async () => {
    const service = await start();
    const acme = await accountWith(service, 7);

    const state = await stateOf(acme);

    const { logId, origin, url, vkey, rootHash, note } = state;
    expect(state).toEqual({
      ...{ logId, vkey, rootHash, note },
      origin: `auth.test/log/${logId}`,
      url: `https://auth.test/log/${logId}`,
      treeSize: 7,
      signedAt: service.clock().toISOString(),
      mergeDelaySeconds: 60,
      halted: null,
      witnesses: [],
    });
    expect(logId).toMatch(/^[0-9a-f]{32}$/);
    expect(bytes(rootHash)).toEqual(Buffer.from(rootOfLeaves(await leavesOf(acme))));
    expect(saidBy(note, vkey)).toEqual({ ok: true, origin, size: 7, root: new Uint8Array(bytes(rootHash)) });
    const published = await service.app.inject({ method: 'GET', url: new URL(`${url}/checkpoint`).pathname });
    expect(published.body).toBe(note);
  });

  test('proves each entry in each size that has it, and that each size only grew', async () => {
    const service = await start();
    const acme = await accountWith(service, 9);
    const leaves = await leavesOf(acme);

    for (let size = 1; size <= 9; size += 1) {
      const root = rootOfLeaves(leaves.slice(0, size));
      for (let seq = 1; seq <= size; seq += 1) {
        const told = await inclusionOf(acme, `seq=${seq}&treeSize=${size}`);
        const leaf = leaves[seq - 1] ?? root;
        const proof = told.proof.map(bytes);
        expect(bytes(told.leafHash)).toEqual(Buffer.from(leaf));
        expect(leafOf(told.hash, told.parts, sha256)).toEqual(leaf);
        expect(verifyInclusion({ leaf, index: told.leafIndex, size, root, proof }, sha256)).toBe(true);
        expect(verifyInclusion({ leaf, index: told.leafIndex + 1, size, root, proof }, sha256)).toBe(false);
        expect(told.note === null).toBe(size < 9);
      }
      for (let oldSize = 0; oldSize <= size; oldSize += 1) {
        const query = `from=${oldSize}&to=${size}`;
        const told = (await acme('GET', `/v1/transparency/consistency?${query}`)).json();
        const oldRoot = rootOfLeaves(leaves.slice(0, oldSize));
        expect([told.fromRoot, told.toRoot].map(bytes)).toEqual(
          [oldRoot, root].map((each) => Buffer.from(each)),
        );
        const proof = told.proof.map(bytes);
        expect(verifyConsistency({ oldSize, oldRoot, size, root, proof }, sha256)).toBe(true);
      }
    }
  });

  test('answers an entry by its id, also as C2SP writes a proof', async () => {
    const service = await start();
    const acme = await accountWith(service, 5);
    const [, , third] = await entriesOf(acme);
    const entryId = String(third?.entryId);

    const told = await inclusionOf(acme, `entryId=${entryId}`);
    const headers = { authorization: `Bearer ${acme.apiKey}`, accept: 'text/plain' };
    const url = `/v1/transparency/inclusion?entryId=${entryId}`;
    const text = (await service.app.inject({ method: 'GET', url, headers })).body;

    expect(told).toMatchObject({ entryId, seq: 3, leafIndex: 2, treeSize: 5 });
    const read = readTlogProof(text);
    expect(read?.note).toBe(told.note);
    expect(read?.index).toBe(2);
    expect(read?.proof.map((hash) => Buffer.from(hash))).toEqual(told.proof.map(bytes));
  });

  test('keeps its leaves when the content of entries is erased, before they came into the log and after', async () => {
    const service = await start();
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const { grantId } = await grantTo(acme, { principalId: 'user_42' });
    const leaves = await leavesOf(acme);
    const before = await inclusionOf(acme, 'seq=3');
    await acme('DELETE', `/v1/grants/${grantId}`);
    const late = await leavesOf(acme);
    expect(late.length).toBeGreaterThan(leaves.length);
    await acme('POST', '/v1/audit/erasures', { principalId: 'user_42' });
    service.advance(60);
    await service.runJob('erasure of audit entries');

    const { treeSize } = await stateOf(acme);

    expect(treeSize).toBeGreaterThan(late.length);
    for (let seq = 1; seq <= late.length; seq += 1) {
      const told = await inclusionOf(acme, `seq=${seq}`);
      expect(bytes(told.leafHash)).toEqual(Buffer.from(late[seq - 1] ?? ''));
      expect(leafOf(told.hash, told.parts, sha256)).toEqual(late[seq - 1]);
    }
    const { fromRoot } = (await acme('GET', `/v1/transparency/consistency?from=${before.treeSize}`)).json();
    expect(fromRoot).toBe(before.rootHash);
    const erased = (await entriesOf(acme)).filter(({ erased: isErased }) => isErased);
    expect(erased.length).toBeGreaterThan(0);
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });

  test('works without a key, but has no notes', async () => {
    const service = await startApp();
    const acme = await accountWith(service, 3);

    const state = await stateOf(acme);

    expect(state).toMatchObject({ treeSize: 3, vkey: null, signedAt: null });
    expect(await inclusionOf(acme, 'seq=2')).toMatchObject({ treeSize: 3, note: null });
    expect(state.note).toBeNull();
    const headers = { authorization: `Bearer ${acme.apiKey}`, accept: 'text/plain' };
    for (const url of ['/v1/transparency/inclusion?seq=2', `/log/${state.logId}/checkpoint`]) {
      const answer = await service.app.inject({ method: 'GET', url, headers });
      expect(refusalOf(answer)).toBe('503 NOT_CONFIGURED');
      expect(answer.json().details).toEqual({ setting: 'ED25519_PRIVATE_KEY' });
    }
  });

  test('is signed by a new key once the operator sets one', async () => {
    const service = await start();
    const acme = await accountWith(service, 3);
    const before = await stateOf(acme);
    const later = await startApp({ env: { ED25519_PRIVATE_KEY: pem() }, databaseUrl: service.databaseUrl });
    const call = later.calling(acme.apiKey);

    const after = (await call('GET', '/v1/transparency')).json();

    expect(after).toMatchObject({ treeSize: 3, rootHash: before.rootHash, origin: before.origin });
    expect(after.vkey).not.toBe(before.vkey);
    expect(saidBy(after.note, after.vkey)).toMatchObject({ ok: true, size: 3 });
  });

  test('gets its first note by the clock once the operator sets a key', async () => {
    const service = await startApp();
    const acme = await accountWith(service, 3);
    const { url } = await stateOf(acme);
    const later = await startApp({ env: { ED25519_PRIVATE_KEY: KEY }, databaseUrl: service.databaseUrl });
    const read = () => later.app.inject({ method: 'GET', url: `${new URL(url).pathname}/checkpoint` });

    expect(refusalOf(await read())).toBe('503 SERVICE_UNAVAILABLE');
    await later.runJob('transparency logs behind');
    expect((await read()).body).toMatch(/^auth[.]test[/]log[/]\w+\n3\n/);
  });

  test('grows by the clock, whoever appended', async () => {
    const service = await start();
    const acme = await accountWith(service, 4);
    const sizeOf = async () => {
      const found = service.db
        .selectFrom('tlogLogs')
        .select('size')
        .where('developerId', '=', acme.developerId);
      return Number((await found.executeTakeFirst())?.size ?? -1);
    };

    expect(await sizeOf()).toBe(-1); // no request has asked
    await service.runJob('transparency logs');
    expect(await sizeOf()).toBe(4);
    const other = await start();
    const agent = await other.calling(acme.apiKey)('POST', '/v1/agents', { name: 'By another process' });
    expect(agent.statusCode).toBe(201);
    await service.runJob('transparency logs');
    expect(await sizeOf()).toBe(4);
    await service.runJob('transparency logs behind');
    expect(await sizeOf()).toBe(5);
  });

  test('stays one when two processes build it while many append', async () => {
    const [one, two] = [await start(), await start()];
    const acme = await one.asDeveloper({ mode: 'sandbox' });
    const states: { treeSize: number; rootHash: string }[] = [];
    const writing = Promise.all(
      Array.from({ length: 20 }, (_, at) => [one, two][at % 2]).map((service, at) =>
        service?.calling(acme.apiKey)('POST', '/v1/agents', { name: `Agent ${at}` }),
      ),
    );
    const building = Promise.all(
      [one, two].map(async (service) => {
        for (let round = 0; round < 10; round += 1) {
          states.push((await service.calling(acme.apiKey)('GET', '/v1/transparency')).json());
        }
      }),
    );
    await Promise.all([writing, building]);

    const { treeSize } = await stateOf(acme);
    const leaves = await leavesOf(acme);
    expect(treeSize).toBe(21);
    expect(leaves).toHaveLength(21);
    for (const state of states) {
      const root = rootOfLeaves(leaves.slice(0, state.treeSize));
      expect(bytes(state.rootHash)).toEqual(Buffer.from(root));
    }
  });
});

describe('what everybody reads of a log', () => {
  const read = (service: Service, url: string) => service.app.inject({ method: 'GET', url });

  test('are its tiles, which grow at their end alone', async () => {
    const service = await start();
    const acme = await accountWith(service, 6);
    const { logId } = await stateOf(acme);
    const leaves = Buffer.concat(await leavesOf(acme));

    for (let width = 1; width <= 6; width += 1) {
      const tile = await read(service, `/log/${logId}/tile/0/000.p/${width}`);
      expect(tile.rawPayload).toEqual(leaves.subarray(0, width * 32));
      expect(tile.headers).toMatchObject({
        'content-type': 'application/octet-stream',
        'cache-control': 'public, max-age=31536000, immutable',
        'access-control-allow-origin': '*',
        etag: expect.stringMatching(/^"/),
      });
      expect(tile.headers['set-cookie']).toBeUndefined();
    }
    const { headers } = await read(service, `/log/${logId}/checkpoint`);
    expect(headers).toMatchObject({
      'content-type': 'text/plain; charset=utf-8',
      'cache-control': 'public, max-age=5',
      'access-control-allow-origin': '*',
    });
  });

  test('is nothing else: all other addresses are unknown alike', async () => {
    const service = await start();
    const acme = await accountWith(service, 3);
    const { logId } = await stateOf(acme);
    const unknown = 'f'.repeat(32);
    const texts = await Promise.all(
      [
        `/log/${unknown}/checkpoint`,
        `/log/x/checkpoint`,
        `/log/${logId.toUpperCase()}/checkpoint`,
        `/log/${unknown}/tile/0/000.p/1`,
        `/log/${logId}/tile/0/000`,
        `/log/${logId}/tile/0/000.p/4`,
        `/log/${logId}/tile/0/001.p/1`,
        `/log/${logId}/tile/1/000.p/1`,
        `/log/${logId}/tile/63/000.p/1`,
        `/log/${logId}/tile/64/000.p/1`,
        `/log/${logId}/tile/0/x999/x999/x999/x999/999`,
        `/log/${logId}/tile/0/${'x999/'.repeat(100)}999`,
        `/log/${logId}/tile/0/-01.p/1`,
        `/log/${logId}/tile/00/000.p/1`,
        `/log/${logId}/tile/0/000.p/0`,
        `/log/${logId}/tile/0/000.p/01`,
        `/log/${logId}/tile/0/0.p/1`,
        `/log/${logId}/tile/0/x000/000.p/1`,
        `/log/${logId}/tile/0/000.p/1?size=1`,
        `/log/${logId}/tile/entries/000.p/1`,
        `/log/${logId}/tile/`,
      ].map(async (url) => {
        const { statusCode, body } = await read(service, url);
        return `${statusCode} ${body.replace(/"requestId":"[^"]*"/, '')}`;
      }),
    );

    expect([...new Set(texts)]).toEqual(['404 {"code":"NOT_FOUND","message":"No such record.",}']);
  });
});

describe('a proof', () => {
  test.each([
    ['inclusion', '', 'entryId', 'required'],
    ['inclusion', 'seq=1&entryId=alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', 'seq', 'not_allowed'],
    ['inclusion', 'seq=0', 'seq', 'too_small'],
    ['inclusion', 'seq=3&treeSize=2', 'treeSize', 'too_small'],
    ['inclusion', 'seq=3&treeSize=4', 'treeSize', 'too_large'],
    ['inclusion', 'seq=3&treeSize=999999999999999', 'treeSize', 'too_large'],
    ['consistency', 'from=999999999999999', 'from', 'too_large'],
    ['consistency', 'from=2&to=1', 'from', 'too_large'],
    ['consistency', 'from=1&to=4', 'to', 'too_large'],
    ['consistency', '', 'from', 'required'],
  ])('of %s is refused for ?%s', async (kind, query, path, problem) => {
    const acme = await accountWith(await start(), 3);

    const answer = await acme('GET', `/v1/transparency/${kind}?${query}`);

    expect(refusalOf(answer)).toBe('400 BAD_REQUEST');
    expect(answer.json().details.fields).toEqual([{ path, problem }]);
  });

  test('of an unknown entry, and of one of another account, is not found', async () => {
    const service = await start();
    const [acme, other] = [await accountWith(service, 3), await accountWith(service, 9)];
    const [, , , foreign] = await entriesOf(other);
    await stateOf(other);

    for (const query of [`entryId=${foreign?.entryId}`, 'entryId=alog_unknown', 'seq=4', 'seq=999999999']) {
      expect(refusalOf(await acme('GET', `/v1/transparency/inclusion?${query}`))).toBe('404 NOT_FOUND');
    }
  });
});
