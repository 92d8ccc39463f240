import { spawnSync } from 'node:child_process';
import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import theirs from '../vectors/tlog-vectors.json' with { type: 'json' };
import { consistencyRanges, inclusionRanges, verifyConsistency, verifyInclusion } from './merkle.ts';
import { extendTiles, proofOf, rootOf, tileKey, tilesByKey } from './merkle-tiles.ts';
import {
  checkpointText,
  decodeBase64,
  encodeBase64,
  LOG_KEY,
  noteKey,
  readCheckpointText,
  readNote,
  readVkey,
  verifyNote,
  vkeyOf,
  writeNote,
} from './signed-note.ts';

/**
 * `vectors/tlog-vectors.json` was made by the implementation of the Go checksum database, golang.org/x/mod/sumdb, version
 * 0.7.0 (BSD-3-Clause), which `test/tlog-peer` calls. Where Go is installed, it also verifies what ours makes.
 */
const PEER = join(import.meta.dirname, '../test/tlog-peer');
const MODULES = '/usr/share/gocode'; // where Debian's golang-golang-x-mod-dev is
const hasGo = existsSync(join(MODULES, 'src/golang.org/x/mod/sumdb')) && existsSync('/usr/bin/go');

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest());
const verifyEd25519 = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') };
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
};
const bytesOf = (text: string) => decodeBase64(text) ?? new Uint8Array();

const leaves = Array.from({ length: 70_000 }, (_, index) => sha256(Buffer.from(`\0entry ${index}`)));
const tiles = tilesByKey(extendTiles({ size: 0, edge: new Map(), leaves }, sha256));
const rootAt = (end: number) => rootOf({ start: 0, end }, tiles, sha256);
const inclusionOf = (index: number, size: number) => proofOf(inclusionRanges(index, size), tiles, sha256);
const consistencyOf = (oldSize: number, size: number) =>
  proofOf(consistencyRanges(oldSize, size), tiles, sha256);

describe('the trees of another implementation', () => {
  test('have the same roots and tiles', () => {
    expect(theirs.Trees).toHaveLength(11);
    for (const { Size, Root } of theirs.Trees) expect(encodeBase64(rootAt(Size))).toBe(Root);
    for (const { Level, Index, Hashes } of theirs.Tiles)
      expect(
        encodeBase64(tiles.get(tileKey({ level: Level, index: Index }))?.hashes ?? new Uint8Array()),
      ).toBe(Hashes);
  });

  test('have the same proofs, which ours verifies', () => {
    for (const { Of: index, Size: size, Hashes } of theirs.Inclusions) {
      const proof = (Hashes ?? []).map(bytesOf);
      const leaf = leaves[index] ?? new Uint8Array();
      expect(inclusionOf(index, size).map(encodeBase64)).toEqual(Hashes ?? []);
      expect(verifyInclusion({ leaf, index, size, root: rootAt(size), proof }, sha256)).toBe(true);
    }
    for (const { Of: oldSize, Size: size, Hashes } of theirs.Consistencies) {
      const proof = (Hashes ?? []).map(bytesOf);
      const claim = { oldSize, oldRoot: rootAt(oldSize), size, root: rootAt(size), proof };
      expect(consistencyOf(oldSize, size).map(encodeBase64)).toEqual(Hashes ?? []);
      expect(verifyConsistency(claim, sha256)).toBe(true);
    }
  });

  test('are signed in notes that ours verifies', () => {
    const [note, key] = [readNote(theirs.Note), readVkey(theirs.Vkey, sha256)];
    if (!note || !key) throw new Error('The note and its key are not read.');

    expect(verifyNote(note, [key], verifyEd25519)).toEqual({ ok: true, signatures: [{ key }] });
    expect(readCheckpointText(note.text)).toEqual({ origin: 'log.example/go', size: 8, root: rootAt(8) });
    expect(vkeyOf(key)).toBe(theirs.Vkey);
  });
});

test.runIf(hasGo)(
  'another implementation verifies our proofs and notes, and refuses changed ones',
  () => {
    const sizes = [1, 2, 5, 100, 256, 300, 65_537, 70_000];
    const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), Buffer.alloc(32, 9)]);
    const secret = createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
    const publicKey = createPublicKey(secret).export({ format: 'der', type: 'spki' }).subarray(-32);
    const key = noteKey('log.example/ours', { type: LOG_KEY, publicKey }, sha256);
    const text = checkpointText({ origin: key.name, size: 300, root: rootAt(300) });
    const ours = {
      Trees: sizes.map((Size) => ({ Size, Root: encodeBase64(rootAt(Size)) })),
      Inclusions: sizes.flatMap((Size) =>
        [0, Size >> 1, Size - 1].map((Of) => ({ Of, Size, Hashes: inclusionOf(Of, Size).map(encodeBase64) })),
      ),
      Consistencies: sizes.flatMap((Size) =>
        sizes
          .filter((Of) => Of <= Size)
          .map((Of) => ({ Of, Size, Hashes: consistencyOf(Of, Size).map(encodeBase64) })),
      ),
      Vkey: vkeyOf(key),
      Note: writeNote({ text, signatures: [{ ...key, bytes: sign(null, Buffer.from(text), secret) }] }),
    };
    const check = (given: typeof ours) => {
      const env = { ...process.env, GO111MODULE: 'off', GOPATH: MODULES };
      const options = { cwd: PEER, env, input: JSON.stringify(given), encoding: 'utf8' } as const;
      const { status, stdout } = spawnSync('/usr/bin/go', ['run', 'main.go', 'check'], options);
      return { status, stdout };
    };

    expect(check(ours)).toEqual({
      status: 0,
      stdout: '8 trees, 24 inclusions, 36 consistencies, 1 signatures\n',
    });
    const [first, ...more] = ours.Inclusions.toReversed();
    const changed = { ...first, Of: 3, Size: 5, Hashes: first?.Hashes ?? [] };
    expect(check({ ...ours, Inclusions: [...more, changed] }).status).toBe(1);
    expect(check({ ...ours, Note: ours.Note.replace('\n300\n', '\n301\n') }).status).toBe(1);
  },
  120_000,
);
