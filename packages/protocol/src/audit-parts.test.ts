import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { AuditEntry } from './audit-chain.ts';
import { agreesWithParts, erasedParts, leafOf, partsOf } from './audit-parts.ts';

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest();

/** An entry whose parts and digests are known. */
const entry: AuditEntry = {
  id: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  seq: 1,
  agentId: 'ag_01K9Z3QW5M8T2V4X6Y7Z8A9B01',
  agentDid: 'did:web:behest.example:agents:ag_01K9Z3QW5M8T2V4X6Y7Z8A9B01',
  grantId: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B02',
  principalId: 'user_42',
  developerId: 'dev_01K9Z3QW5M8T2V4X6Y7Z8A9B03',
  action: 'payment.initiated',
  metadata: {
    '': {},
    amount: 420.5,
    currency: 'EUR',
    merchant: 'Café "Ünder"',
    tags: ['a', null, true],
    '€': 1,
  },
  status: 'success',
  purpose: null,
  timestamp: '2026-02-01T12:34:56.789Z',
  prevHash: null,
  salt: 'AQEBAQEBAQEBAQEBAQEBAQ',
  hash: '0a4ecf28dc3368c8213a070603c8bce1c6cba867e3599c01bc8b148f625fd586',
};
const LEAF = 'f41bd6eb5ed2c0239728545d173b6fa504113048c11a7945808bb37a52d9eb59';

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex');
const decoded = (part: string) => JSON.parse(Buffer.from(part, 'base64url').toString());
const leafOfEntry = (parts: readonly string[]) => hex(leafOf(entry.hash, parts, sha256));

describe('the parts of an entry', () => {
  test('are in their order, with known digests', () => {
    const parts = partsOf(entry, sha256);

    expect(parts.map(decoded).map(([salt, name]) => [salt, name])).toEqual([
      ['O588ozxPktzBYbmcN4cwtg', 'entry/1'],
      ['BU9k7uc68sSiZDMTzRLYHw', 'principalId'],
      ['QtVUB9OuPzJnG0maQI6wNQ', 'metadata.€'],
      ['pMcJRdp_gsFTPliGxulykw', 'metadata.'],
      ['mV36cZVZhLKEPOPjTks4RA', 'metadata.merchant'],
      ['QYGwfkS9cbpfv-rcHmRtqQ', 'metadata.currency'],
      ['ss9G7J_PS_ZV2Xjno0WUWA', 'metadata.tags'],
      ['rGBgmMvk6qhPP7I8W4OOIA', 'metadata.amount'],
    ]);
    expect(parts.map((part) => hex(sha256(Buffer.from(part))).slice(0, 8))).toEqual([
      '70e8824d',
      '6d6d50d9',
      '16265c58',
      '66985dc5',
      '7d006dad',
      '8a80be38',
      'd410a854',
      'e7e946fb',
    ]);
    expect(leafOfEntry(parts)).toBe(LEAF);
  });

  test('keep their leaf when some are hidden, and say only what is shown', () => {
    const isKept = (member: string) => member === 'currency';
    const { parts, metadata } = erasedParts(partsOf(entry, sha256), isKept, sha256);
    const erased = { ...entry, principalId: null, salt: null, metadata, erased: true } as const;

    expect(leafOfEntry(parts)).toBe(LEAF);
    expect({ ...metadata }).toEqual({ currency: 'EUR' });
    expect(parts.filter((part) => !part.startsWith('#'))).toHaveLength(2);
    expect(agreesWithParts(erased, parts)).toBe(true);
    for (const change of [
      { action: 'payment.refunded' },
      { status: 'blocked' },
      { grantId: null },
      { timestamp: '2026-02-01T12:34:56.788Z' },
      { metadata: {} },
      { metadata: { currency: 'USD' } },
      { metadata: { currency: 'EUR', more: 1 } },
    ] as const) {
      expect({ change, agrees: agreesWithParts({ ...erased, ...change }, parts) }).toEqual({
        change,
        agrees: false,
      });
    }
  });

  test('change their leaf with every part', () => {
    const parts = partsOf(entry, sha256);
    for (const [at] of parts.entries()) {
      const changed = parts.with(at, partsOf({ ...entry, salt: 'AgICAgICAgICAgICAgICAg' }, sha256)[at] ?? '');
      expect(leafOfEntry(changed)).not.toBe(LEAF);
      expect(leafOfEntry(parts.toSpliced(at, 1))).not.toBe(LEAF);
    }
    expect(agreesWithParts({ ...entry, metadata: {} }, ['no part', '#', 'x'])).toBe(false);
    expect(agreesWithParts(entry, parts)).toBe(false); // its principal is shown
  });
});
