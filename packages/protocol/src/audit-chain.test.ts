import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type AuditEntry, continueChain, startChain, verifyChain } from './audit-chain.ts';
import { auditLine, auditLineParts } from './audit-line.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

const did = 'did:web:behest.example:agents:ag_01K9Z3QW5M8T2V4X6Y7Z8A9B01';
const about = {
  agentId: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B01',
  agentDid: did,
  grantId: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B02',
  principalId: 'user_42',
  developerId: 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B03',
};
const nobody = { ...about, agentId: null, agentDid: null, grantId: null, principalId: null };
const facts = [
  {
    id: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    ...about,
    action: 'payment.initiated',
    metadata: {
      '€': 1,
      tags: ['a', null, true],
      merchant: 'Café "Ünder"',
      currency: 'EUR',
      amount: 420.5,
      '': {},
    },
    timestamp: '2026-02-01T12:34:56.789Z',
    status: 'success',
  },
  {
    id: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0D',
    ...about,
    action: 'screening.run',
    metadata: {},
    timestamp: '2026-02-01T12:34:57.000Z',
    status: 'blocked',
    purpose: 'aml.screening',
  },
  {
    id: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0E',
    ...nobody,
    action: 'apikey.rotated',
    metadata: { keyId: 'key_01K9Z3QW5M8T2V4X6Y7Z8A9B04' },
    timestamp: '2026-02-01T12:34:58.000Z',
    status: 'success',
  },
  ...[4, 5, 6, 7].map((n) => ({
    id: `alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0${n}`,
    ...about,
    action: 'step.done',
    metadata: { n },
    timestamp: `2026-02-01T12:35:0${n}.000Z`,
    status: 'success' as const,
  })),
] as const;

/** Links and hashes the entries as the service does. The salt of entry n is 16 bytes n. */
function chained(options: { salted: boolean }): AuditEntry[] {
  let prevHash: string | null = null;
  return facts.map((fact, index) => {
    const salt = options.salted ? Buffer.alloc(16, index + 1).toString('base64url') : null;
    const entry = { purpose: null, ...fact, salt, prevHash, seq: index + 1, entryId: fact.id };
    const hash: string = sha256(auditLine(entry));
    prevHash = hash;
    return { ...entry, hash };
  });
}

const entries = chained({ salted: true });
const verified = (list: readonly AuditEntry[], start = {}) => verifyChain(list, start, sha256);
const bytesOf = (entry: AuditEntry) => Buffer.byteLength(auditLine(entry));

describe('the documented vectors', () => {
  test('without salt', () => {
    const [first, second, third] = chained({ salted: false });

    expect(first && auditLine(first)).toBe(
      '{"id":"alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C","agentId":"ag_01K9Z3QW5M8T2V4X6Y7Z8A9B01",' +
        '"agentDid":"did:web:behest.example:agents:ag_01K9Z3QW5M8T2V4X6Y7Z8A9B01",' +
        '"grantId":"grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B02","principalId":"user_42",' +
        '"developerId":"dev_01K9Z3QW5M8T2V4X6Y7Z8A9B03","action":"payment.initiated",' +
        '"metadata":{"":{},"amount":420.5,"currency":"EUR","merchant":"Café \\"Ünder\\"","tags":["a",null,true],"€":1},' +
        '"timestamp":"2026-02-01T12:34:56.789Z","prevHash":null,"status":"success"}',
    );
    expect([first, second, third].map((entry) => entry && bytesOf(entry))).toEqual([485, 471, 368]);
    expect([first, second, third].map((entry) => entry?.hash)).toEqual([
      'c23b2ee6267b885957ec6a9195a33392c3c63dde291ad03077b027fa7d2cd460',
      'c69bfb336cdc3f2bb026e232f6871ad9cd30c1cbba46a4dec1610f2ad0e91306',
      '41b40a76fabba1d71e18e39f5cbbde95c6ca422db438b30858995d9ee6e66557',
    ]);
  });

  test('with salt', () => {
    expect(entries.map(bytesOf)).toEqual([517, 503, 400, 478, 478, 478, 478]);
    expect(entries.map((entry) => entry.hash)).toEqual([
      '0a4ecf28dc3368c8213a070603c8bce1c6cba867e3599c01bc8b148f625fd586',
      '5353e735ef1f78afe0272e16d8a0f1cf7e6ce5c0626834467a6d8b8317a8c1d9',
      '74d1970e8e4a4aeb710f7e1666fd32a70242f90e07739d91beb86726459177a2',
      'fd1d86bae55340b9acccf61372f2491fd4a9c9f8264aad1f1544e58db4f310f2',
      '874feb284df86c9e76a1c3c50325f76831840cc1f8cffe835220aa7abe73a437',
      '554f114a9b774092e01d3737f40e6a3fafd89cb94de7c4f8c02fe01c614a73ed',
      '2c7d0e692c6c5164f83e50b9bf6c059ab852e3202b78438e297319c0b95bde65',
    ]);
  });
});

describe('the line that is hashed', () => {
  test('is the same in parts as whole, and JSON', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.option(fc.string()), (metadata, purpose) => {
        const entry = { ...facts[0], metadata, purpose, prevHash: null };
        const { prefix, suffix } = auditLineParts(entry);
        expect(`${prefix}${entry.timestamp}","prevHash":null${suffix}`).toBe(auditLine(entry));
        expect(Object.keys(JSON.parse(auditLine(entry))).at(-1)).toBe(
          purpose === null ? 'status' : 'purpose',
        );
      }),
    );
  });

  test('cannot be made of what JSON cannot say', () => {
    expect(() => auditLineParts({ ...facts[0], metadata: { a: Number.NaN } })).toThrow();
    expect(() => auditLineParts({ ...facts[0], metadata: { a: '\ud800' } })).toThrow();
  });
});

describe('an untouched chain', () => {
  test('is valid', () => {
    expect(verified(entries)).toEqual({
      valid: true,
      checkedEntries: 7,
      firstBrokenAt: null,
      problem: null,
      erasedEntries: 0,
    });
    expect(verified([])).toEqual({
      valid: true,
      checkedEntries: 0,
      firstBrokenAt: null,
      problem: null,
      erasedEntries: 0,
    });
  });

  test('is valid from any entry on, with or without the hash before it', () => {
    const [, , third] = entries;

    expect(verified(entries.slice(3), { fromSeq: 4, prevHash: third?.hash }).valid).toBe(true);
    expect(verified(entries.slice(3), { fromSeq: 4 }).valid).toBe(true);
    expect(verified(entries.slice(3), { fromSeq: 4, prevHash: 'f'.repeat(64) }).problem).toBe(
      'link_mismatch',
    );
    expect(verified(entries.slice(3)).problem).toBe('gap');
  });

  test('is valid page by page, however the pages are cut', () => {
    fc.assert(
      fc.property(fc.nat(7), fc.nat(7), (one, other) => {
        const [first, second] = [Math.min(one, other), Math.max(one, other)];
        const pages = [entries.slice(0, first), entries.slice(first, second), entries.slice(second)];
        const end = pages.reduce((progress, page) => continueChain(progress, page, sha256), startChain());
        expect(end).toMatchObject({ valid: true, checkedEntries: 7, nextSeq: 8 });
      }),
    );
  });

  test('may have two entries of one moment', () => {
    const [first] = entries;
    const again = first && { ...first, id: 'alog_2', entryId: 'alog_2', seq: 2, prevHash: first.hash };

    expect(
      verified(first && again ? [first, { ...again, hash: sha256(auditLine(again)) }] : []).checkedEntries,
    ).toBe(2);
    expect(verified(first && again ? [first, { ...again, hash: sha256(auditLine(again)) }] : []).valid).toBe(
      true,
    );
  });
});

describe('a chain that was changed', () => {
  const at = fc.nat(entries.length - 1);
  const hashed = [
    'id',
    'agentId',
    'agentDid',
    'grantId',
    'principalId',
    'developerId',
    'action',
    'metadata',
    'timestamp',
    'status',
    'purpose',
    'salt',
  ] as const;
  const replace = (index: number, change: object) =>
    entries.map((entry, each) => (each === index ? { ...entry, ...change } : entry));

  test('in any member of any entry is found there', () => {
    const value = fc.oneof(
      fc.string(),
      fc.constantFrom(null, '', {}, [], 0, '2026-02-01T12:34:56.789z'),
      fc.jsonValue(),
    );

    fc.assert(
      fc.property(at, fc.constantFrom(...hashed), value, (index, name, changed) => {
        const before = entries[index];
        fc.pre(JSON.stringify(before?.[name]) !== JSON.stringify(changed));
        const verdict = verified(replace(index, { [name]: changed }));
        expect(verdict).toMatchObject({ valid: false, problem: 'hash_mismatch', checkedEntries: index + 1 });
      }),
      { numRuns: 1_000 },
    );
  });

  test('deep inside the metadata is found there', () => {
    expect(verified(replace(0, { metadata: { ...entries[0]?.metadata, amount: 420.51 } }))).toMatchObject({
      firstBrokenAt: entries[0]?.id,
      problem: 'hash_mismatch',
    });
  });

  test('in its place, link or hash is found there', () => {
    fc.assert(
      fc.property(at, (index) => {
        const other = 'f'.repeat(64);
        const id = entries[index]?.id;
        expect(verified(replace(index, { seq: 99 }))).toMatchObject({ problem: 'gap', firstBrokenAt: id });
        expect(verified(replace(index, { prevHash: other }))).toMatchObject({
          problem: 'link_mismatch',
          firstBrokenAt: id,
        });
        expect(verified(replace(index, { hash: other }))).toMatchObject({
          problem: 'hash_mismatch',
          firstBrokenAt: id,
        });
        expect(verified(replace(index, { entryId: 'alog_other' }))).toMatchObject({
          problem: 'hash_mismatch',
          firstBrokenAt: id,
        });
      }),
    );
  });

  test('by dropping an entry is found at the next entry, with new numbers or without', () => {
    fc.assert(
      fc.property(fc.nat(entries.length - 2), (index) => {
        const rest = entries.toSpliced(index, 1);
        const renumbered = rest.map((entry, each) => ({ ...entry, seq: each + 1 }));
        const next = entries[index + 1]?.id;
        expect(verified(rest)).toMatchObject({ problem: 'gap', firstBrokenAt: next });
        expect(verified(renumbered)).toMatchObject({ problem: 'link_mismatch', firstBrokenAt: next });
      }),
    );
  });

  test('by swapping two entries is found at the first of them', () => {
    fc.assert(
      fc.property(at, at, (one, other) => {
        fc.pre(one < other);
        const [first, second] = [entries[one], entries[other]];
        const swapped = entries.map((entry, each) =>
          each === one ? second : each === other ? first : entry,
        );
        const list = swapped.filter((entry) => entry !== undefined);
        const renumbered = list.map((entry, each) => ({ ...entry, seq: each + 1 }));
        expect(verified(list)).toMatchObject({ problem: 'gap', checkedEntries: one + 1 });
        expect(verified(renumbered)).toMatchObject({ problem: 'link_mismatch', checkedEntries: one + 1 });
      }),
    );
  });

  test('by inserting an entry, well linked and hashed, is found right after it', () => {
    fc.assert(
      fc.property(fc.nat(entries.length - 2), (index) => {
        const before = entries[index];
        fc.pre(before !== undefined);
        const forged = {
          ...before,
          id: 'alog_x',
          entryId: 'alog_x',
          seq: before.seq + 1,
          prevHash: before.hash,
        };
        const inserted = entries.toSpliced(index + 1, 0, { ...forged, hash: sha256(auditLine(forged)) });
        const renumbered = inserted.map((entry, each) => ({ ...entry, seq: each + 1 }));
        expect(verified(inserted)).toMatchObject({ problem: 'gap', checkedEntries: index + 3 });
        expect(verified(renumbered)).toMatchObject({ problem: 'link_mismatch', checkedEntries: index + 3 });
      }),
    );
  });

  test('so that time runs backwards is found, though every hash is right', () => {
    const [first, second] = entries;
    const early = { ...first, ...second, timestamp: '2026-02-01T12:34:56.788Z' };
    const forged = second ? [{ ...second, timestamp: early.timestamp }] : [];
    const list = [
      ...(first ? [first] : []),
      ...forged.map((entry) => ({ ...entry, hash: sha256(auditLine(entry)) })),
    ];

    expect(verified(list)).toMatchObject({ problem: 'time_regression', firstBrokenAt: second?.id });
  });

  test('stays broken, whatever comes after', () => {
    const broken = continueChain(startChain(), replace(2, { action: 'x' }).slice(0, 4), sha256);

    expect(continueChain(broken, entries.slice(4), sha256)).toEqual(broken);
    expect(broken).toMatchObject({ valid: false, checkedEntries: 3, firstBrokenAt: entries[2]?.id });
  });
});
