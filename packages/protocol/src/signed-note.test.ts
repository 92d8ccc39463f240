import { createHash, createPrivateKey, createPublicKey, sign, verify } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import {
  checkpointText,
  cosignatureBytes,
  cosignatureMessage,
  decodeBase64,
  encodeBase64,
  LOG_KEY,
  noteKey,
  readAddCheckpoint,
  readCheckpointText,
  readNote,
  readSignatures,
  readTlogProof,
  readVkey,
  signatureLine,
  verifyNote,
  vkeyOf,
  WITNESS_KEY,
  writeAddCheckpoint,
  writeNote,
  writeTlogProof,
} from './signed-note.ts';

const sha256 = (bytes: Uint8Array) => new Uint8Array(createHash('sha256').update(bytes).digest());
const verifyEd25519 = (publicKey: Uint8Array, message: Uint8Array, signature: Uint8Array) => {
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: Buffer.from(publicKey).toString('base64url') };
  return verify(null, message, createPublicKey({ key: jwk, format: 'jwk' }), signature);
};
/** The private key of 32 bytes, in front of which PKCS#8 has these. */
const pkcs8 = (seed: Buffer) => {
  const der = Buffer.concat([Buffer.from('302e020100300506032b657004220420', 'hex'), seed]);
  return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
};
const publicOf = (key: ReturnType<typeof pkcs8>) =>
  new Uint8Array(createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32));
const signWith = (key: ReturnType<typeof pkcs8>, message: string | Uint8Array) =>
  new Uint8Array(sign(null, Buffer.from(message), key));

/** The keys of the documentation's test vectors. Everybody knows them. */
const logSecret = pkcs8(Buffer.from('cuI0RFeU1AulmDn52X27KZ6l59PuOOPFRqbgfg3Qez4=', 'base64'));
const witnessSecret = pkcs8(Buffer.alloc(32, 0x57));
const ORIGIN = 'auth.example.test/log/3f9a1c5e7b2d4806a1b3c5d7e9f01234';
const LOG_VKEY = `${ORIGIN}+22ac7d1c+AZlHli4AXvXK6u/kRg2xG44JtR1U8vPBw5xQmI5GQ5Br`;
const WITNESS_VKEY = 'witness.example.test/w1+a43c8409+BMhAafoiFsbtwdUsqDqhHCZ91UQK+lJgkMpD69DKhqnP';
const ROOT_7 = 'ptZdG7CLkZ23N1vgVfqCkRavpHIrl0hRGQLtJCRs7+M=';
const NOTE_7 = `${ORIGIN}
7
${ROOT_7}

— ${ORIGIN} Iqx9HKE35NkiTwHab2Jd/TI/9s5UAYmYMCKchbPQ63gzT/gyqojUJuHEqtfFZJtJ73i408k5HdF4TzZVMnUC4BnMIww=
— witness.example.test/w1 pDyECQAAAABpf0jYpTCvO8522DW6MOiHsMFX9imlzm68O8um8WaBe4XQ+8rtQ8E5mB6TRXLpNH16CDI3q3gPF/0ZwAeXxqWDsoImDw==
`;
const WITNESSED_AT = 1769949400;

const logKey = noteKey(ORIGIN, { type: LOG_KEY, publicKey: publicOf(logSecret) }, sha256);
const witnessKey = noteKey(
  'witness.example.test/w1',
  { type: WITNESS_KEY, publicKey: publicOf(witnessSecret) },
  sha256,
);
const head7 = { origin: ORIGIN, size: 7, root: decoded(ROOT_7) };

describe('the test vectors', () => {
  test('have these keys', () => {
    expect(vkeyOf(logKey)).toBe(LOG_VKEY);
    expect(vkeyOf(witnessKey)).toBe(WITNESS_VKEY);
    expect(readVkey(LOG_VKEY, sha256)).toEqual(logKey);
    expect(readVkey(WITNESS_VKEY, sha256)).toEqual(witnessKey);
  });

  test('have these signatures', () => {
    const text3 = checkpointText({
      origin: ORIGIN,
      size: 3,
      root: decoded('OYFi75gdSJB6ZD6MyNlOuR4rDQi0l+an5kg5ZTZQ+Mc='),
    });
    const line3 = signatureLine({ ...logKey, bytes: signWith(logSecret, text3) });
    const text = checkpointText(head7);
    const witnessed = signWith(witnessSecret, cosignatureMessage(WITNESSED_AT, text));
    const signatures = [
      { ...logKey, bytes: signWith(logSecret, text) },
      { ...witnessKey, bytes: cosignatureBytes(WITNESSED_AT, witnessed) },
    ];

    expect(line3).toBe(
      `— ${ORIGIN} Iqx9HBasgfcr9C8TWlpYHJEBNgh5VNWnlobqNshtltiJckz6lxDoe7hJH14AmxF+2wV7AIW4Aa2VzgUwXwElRsfi+Ao=\n`,
    );
    expect(writeNote({ text, signatures })).toBe(NOTE_7);
  });

  test('verify, the witness with its time', () => {
    const note = noteOf(NOTE_7);

    expect(readCheckpointText(note.text)).toEqual(head7);
    expect(verifyNote(note, [logKey, witnessKey], verifyEd25519)).toEqual({
      ok: true,
      signatures: [{ key: logKey }, { key: witnessKey, time: WITNESSED_AT }],
    });
  });
});

/** @see https://pkg.go.dev/golang.org/x/mod/sumdb/note, the example of its documentation */
test('the published example of a note verifies, and is the note that its key signs', () => {
  const vkey = 'PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW';
  const text =
    "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
  const signed =
    'x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=';
  const secret = pkcs8(Buffer.from('AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz', 'base64').subarray(1));
  const key = readVkey(vkey, sha256);
  if (!key) throw new Error('The key is not read.');
  const note = `${text}\n— PeterNeumann ${signed}\n`;

  expect(verifyNote(noteOf(note), [key], verifyEd25519)).toEqual({ ok: true, signatures: [{ key }] });
  expect(writeNote({ text, signatures: [{ ...key, bytes: signWith(secret, text) }] })).toBe(note);
});

describe('a note', () => {
  const note = noteOf(NOTE_7);

  test('is refused for one bad signature of a known key, wherever it stands', () => {
    for (const [place, { bytes }] of note.signatures.entries()) {
      for (const changed of [bytes.with(9, (bytes[9] ?? 0) ^ 1), bytes.subarray(1), bytes.subarray(0, 40)]) {
        const signatures = note.signatures.with(place, { ...at(note.signatures, place), bytes: changed });
        expect(verifyNote({ ...note, signatures }, [logKey, witnessKey], verifyEd25519)).toEqual({
          ok: false,
          reason: 'bad_signature',
        });
      }
    }
    for (const text of [note.text.replace('\n7\n', '\n8\n'), `${note.text}more\n`, note.text.toUpperCase()]) {
      expect(verifyNote({ ...note, text }, [logKey], verifyEd25519)).toEqual({
        ok: false,
        reason: 'bad_signature',
      });
    }
  });

  test('does not count a witness that changed its time', () => {
    const [first, second] = note.signatures;
    if (!first || !second) throw new Error('The note has two signatures.');
    const later = { ...second, bytes: second.bytes.with(7, (second.bytes[7] ?? 0) + 1) };

    expect(verifyNote({ ...note, signatures: [first, later] }, [witnessKey], verifyEd25519).ok).toBe(false);
  });

  test('does not take the signature of one type for the other', () => {
    const asLog = noteKey(witnessKey.name, { type: LOG_KEY, publicKey: witnessKey.publicKey }, sha256);

    expect(asLog.keyId).not.toBe(witnessKey.keyId);
    expect(verifyNote(note, [asLog], verifyEd25519)).toEqual({ ok: false, reason: 'no_known_key' });
  });

  test('ignores keys that nobody knows, and counts each known one once', () => {
    const stranger = { name: 'stranger.example', keyId: 'ffffffff', bytes: new Uint8Array(70) };
    const signatures = [stranger, ...note.signatures, ...note.signatures, { ...stranger, name: ORIGIN }];

    expect(verifyNote({ ...note, signatures }, [logKey], verifyEd25519)).toEqual({
      ok: true,
      signatures: [{ key: logKey }],
    });
    expect(verifyNote({ ...note, signatures: [stranger] }, [logKey], verifyEd25519)).toEqual({
      ok: false,
      reason: 'no_known_key',
    });
    expect(verifyNote(note, [], verifyEd25519)).toEqual({ ok: false, reason: 'no_known_key' });
  });

  test('is read when it is one, and written the same', () => {
    const line = '— a.example AAAAAAA=\n'; // four bytes of key id, one of signature
    const manyLines = 'text\n\n'.concat(line.repeat(100));

    expect(writeNote(noteOf(NOTE_7))).toBe(NOTE_7);
    expect(writeNote(noteOf(manyLines))).toBe(manyLines);
    expect(noteOf(`one\n\ntwo\n\n${line}`).text).toBe('one\n\ntwo\n');
    for (const text of [
      ...[
        '',
        '\n',
        '\n\n',
        'text\n',
        `text\n${line}`,
        `text\n\n${line}${line}`.slice(0, -1),
        `text\n\n${line}\n`,
      ],
      ...[`text\n\n${line}`.replace('—', '-'), `text\n\n${line}`.replace(' a.', '  a.'), `text\n\n ${line}`],
      ...[`text\n\n${line}`.replace('a.example', 'a+b'), `text\n\n${line}`.replace('a.example', 'a\u00a0b')],
      ...[
        `text\n\n${line}`.replace('AAAAAAA=', 'AAAAAA=='),
        `text\n\n${line}`.replace('AAAAAAA=', 'AAAAAAA'),
      ],
      ...[`text\n\n${line}`.replace('AAAAAAA=', 'AAAAAAB='), `te\txt\n\n${line}`, `te\rxt\n\n${line}`],
      ...[`te\u0000xt\n\n${line}`, `te\ud800xt\n\n${line}`, `text\n\n${line.repeat(101)}`],
      ...[
        `${'x'.repeat(65_536)}\n\n${line}`,
        `${'ä'.repeat(32_768)}\n\n${line}`,
        `text\n\n${line}`.replace('\n\n', '\r\n\r\n'),
      ],
    ]) {
      expect({ text: text.slice(0, 80), read: readNote(text) }).toEqual({
        text: text.slice(0, 80),
        read: undefined,
      });
    }
    expect(readSignatures(line)).toHaveLength(1);
    expect(readSignatures('')).toBeUndefined();
  });
});

describe('the texts of C2SP', () => {
  const proof = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)];
  const lines = proof.map((hash) => `${encodeBase64(hash)}\n`).join('');

  test('of a checkpoint are read with lines after the third, and refused when one of the three is wrong', () => {
    const text = checkpointText(head7);

    expect(readCheckpointText(`${text}extension\n`)).toEqual(head7);
    for (const wrong of [
      ...[
        '',
        '\n',
        `${ORIGIN}\n7\n`,
        text.slice(0, -1),
        `\n7\n${ROOT_7}\n`,
        `${text}\n`,
        text.replace('\n7\n', '\n07\n'),
      ],
      ...['-1', '+7', '7.0', '7e0', ' 7', '', '9007199254740992'].map((size) =>
        text.replace('\n7\n', `\n${size}\n`),
      ),
      ...[text.replace('=', ''), text.replace('+M=', '+N='), text.replace('ptZd', 'ptZ\n')],
    ]) {
      expect({ wrong, read: readCheckpointText(wrong) }).toEqual({ wrong, read: undefined });
    }
  });

  test('of a proof have the form of the specification', () => {
    const text = writeTlogProof({ index: 5, proof, note: NOTE_7 });

    expect(text).toBe(`c2sp.org/tlog-proof@v1\nindex 5\n${lines}\n${NOTE_7}`);
    expect(readTlogProof(text)).toEqual({ index: 5, proof, note: NOTE_7 });
    expect(readTlogProof(text.replace('index', 'extra AAAA\nindex'))).toEqual({
      index: 5,
      proof,
      note: NOTE_7,
    });
    expect(readTlogProof(writeTlogProof({ index: 0, proof: [], note: NOTE_7 }))?.proof).toEqual([]);
    for (const wrong of [
      ...[
        '',
        text.replace('@v1', '@v2'),
        text.replace('index 5', 'index 05'),
        text.replace('index 5', 'index -5'),
      ],
      ...[text.replace('index 5\n', ''), text.replace('index 5', 'index'), text.replace('AQEB', '!!!!')],
      ...[text.replace(lines, encodeBase64(new Uint8Array(31))), text.replace(lines, lines.repeat(32))],
    ]) {
      expect(readTlogProof(wrong)).toBeUndefined();
    }
  });

  test('of a submission to a witness have the form of the specification', () => {
    const body = writeAddCheckpoint({ oldSize: 3, proof, note: NOTE_7 });

    expect(body).toBe(`old 3\n${lines}\n${NOTE_7}`);
    expect(readAddCheckpoint(body)).toEqual({ oldSize: 3, proof, note: NOTE_7 });
    expect(readAddCheckpoint(writeAddCheckpoint({ oldSize: 0, proof: [], note: NOTE_7 }))).toEqual({
      oldSize: 0,
      proof: [],
      note: NOTE_7,
    });
    for (const wrong of [
      ...[
        '',
        '\n\n',
        body.replace('old 3', 'old  3'),
        body.replace('old 3', 'old'),
        body.replace('old 3', 'new 3'),
      ],
      ...[body.replace('\n\n', '\n'), body.replace(lines, lines.repeat(32)), body.replace('AQEB', 'AQE')],
      body.replace('\n\n', `\n\n${'x'.repeat(80_000)}`),
    ]) {
      expect(readAddCheckpoint(wrong)?.note.startsWith(ORIGIN) ?? false).toBe(false);
    }
  });

  test('of a key are refused when the id is not that of the key', () => {
    for (const wrong of [
      ...[
        '',
        '+',
        '++',
        'a',
        LOG_VKEY.replace('22ac', '22ad'),
        LOG_VKEY.replace('auth', 'auta'),
        LOG_VKEY.slice(0, -4),
      ],
      ...[LOG_VKEY.replace('+AZ', '+AR'), LOG_VKEY.replace('+AZ', '+BZ'), LOG_VKEY.replace('auth', 'a uth')],
      ...[LOG_VKEY.toUpperCase(), `${'x'.repeat(1024)}${LOG_VKEY}`, LOG_VKEY.replace('22ac7d1c', '22AC7D1C')],
      'log.example+00000000+AwAA',
    ]) {
      expect({ wrong, read: readVkey(wrong, sha256) }).toEqual({ wrong, read: undefined });
    }
  });

  test('are base64 in one way only', () => {
    for (const length of [0, 1, 2, 3, 4, 31, 32, 33]) {
      const bytes = Uint8Array.from({ length }, (_, index) => 251 + index);
      expect(encodeBase64(bytes)).toBe(Buffer.from(bytes).toString('base64'));
      expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes);
    }
    for (const wrong of [
      'A',
      'AA',
      'AAA',
      'AA=',
      'AAA==',
      'AB==',
      'AAB=',
      '_w==',
      '-w==',
      ' AA==',
      'AA==\n',
      '====',
    ]) {
      expect(decodeBase64(wrong)).toBeUndefined();
    }
  });
});

function noteOf(text: string) {
  const note = readNote(text);
  if (!note) throw new Error('This is no note.');
  return note;
}

function decoded(text: string): Uint8Array {
  const bytes = decodeBase64(text);
  if (!bytes) throw new Error('This is no base64.');
  return bytes;
}

function at<T>(list: readonly T[], index: number): T {
  const found = list[index];
  if (found === undefined) throw new Error(`Nothing stands at ${index}.`);
  return found;
}
