import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { readTree } from '../../protocol/src/receipts/tree.ts';
import {
  type Act,
  CHILD,
  corpus,
  did,
  jwks,
  makeReceipt,
  ORIGIN,
  ROOT,
  statementOf,
  trust,
  WITNESS,
} from '../../protocol/test/receipts.ts';
import { type Receipt, redactReceipt, verifyReceipt } from './receipts.ts';

const VECTORS = join(import.meta.dirname, '../../protocol/vectors/receipt-vectors.json');

/** A receipt with one text changed, at every place where it stands. */
const replaced = (receipt: Receipt, from: string, to: string): unknown =>
  JSON.parse(JSON.stringify(receipt).replaceAll(from, to));

/** The members that differ from those of another receipt; of entries that are the same, the index. */
function changesOf(receipt: Receipt, from: Receipt): Record<string, unknown> {
  const other = new Map<string, unknown>(Object.entries(from));
  const known = new Set(from.entries.map((entry) => JSON.stringify(entry)));
  const changed = Object.entries(receipt).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(other.get(name)),
  );
  const entries = receipt.entries.map((entry) => (known.has(JSON.stringify(entry)) ? entry.index : entry));
  return Object.fromEntries(changed.map(([name, value]) => [name, name === 'entries' ? entries : value]));
}

/** A text with one character changed to another of its alphabet. */
const bent = (text: string, at = Math.floor(text.length / 2)) =>
  `${text.slice(0, at)}${text[at] === 'A' ? 'B' : 'A'}${text.slice(at + 1)}`;

const part = (receipt: Receipt, index: number, name: string): string => {
  const entry = receipt.entries.find((each) => each.index === index);
  const parts = entry && 'parts' in entry ? entry.parts : [];
  return parts.find((each) => Buffer.from(each, 'base64url').toString().includes(`"${name}"`)) ?? '';
};

describe('a receipt', () => {
  const receipts = corpus();

  test.each(Object.entries(receipts))('%s', async (_name, { receipt, failed, consent }) => {
    const verdict = await verifyReceipt(receipt, trust);

    expect(verdict.failed).toBe(failed);
    expect(verdict.ok).toBe(failed === null);
    expect(verdict.anchored).toBe(failed === null);
    if (consent !== null) expect(verdict.consent?.proof).toBe(consent);
  });

  test('is the same for every checker: these are the vectors of the clients in other languages', async () => {
    const { passkey, ...others } = receipts;
    if (!passkey) throw new Error('There is no first receipt.');
    const cases = Object.entries(others).map(([name, { receipt, ...verdict }]) => [
      name,
      { ...verdict, changes: changesOf(receipt, passkey.receipt) },
    ]);
    const lines = Object.entries({ did, jwks, passkey, ...Object.fromEntries(cases) }).map(
      ([name, value]) => `${JSON.stringify(name)}:${JSON.stringify(value)}`,
    );

    await expect(`{\n${lines.join(',\n')}\n}\n`).toMatchFileSnapshot(VECTORS);
  });

  test('tells what was shown, approved, done and ended', async () => {
    const now = new Date('2026-02-01T12:45:00Z');
    const { grants, entries, consent, checkpoint, warnings } = await verifyReceipt(
      JSON.stringify(makeReceipt({ isWitnessed: true })),
      { ...trust, witnesses: [WITNESS], quorum: 1, origin: ORIGIN, now },
    );

    expect(grants).toMatchObject([
      { grantId: ROOT, parentGrantId: null, agentId: 'ag_travel', status: 'revoked', revokedBy: 'principal' },
      { grantId: CHILD, parentGrantId: ROOT, agentId: 'ag_payer', status: 'revoked', depth: 1 },
    ]);
    expect(entries.map(({ action }) => action)).toEqual([
      ...[
        'authorization.requested',
        'authorization.approved',
        'grant.created',
        'token.issued',
        'grant.created',
      ],
      ...['payment.initiated', 'grant.revoked', 'grant.revoked'],
    ]);
    expect(consent).toMatchObject({
      ...{ mode: 'passkey', proof: 'person_signed', unverified: false, principalId: 'user_42' },
      shown: { agentName: 'Travel helper' },
      decision: { removedScopes: ['email:send'] },
    });
    expect(checkpoint).toEqual({ size: 19, signedBy: [ORIGIN], cosignedBy: ['witness.example.test/w1'] });
    expect(warnings).toEqual([]);
  });

  test('of a passkey with ES256, as most are, holds', async () => {
    expect((await verifyReceipt(makeReceipt({ isEs256: true }), trust)).consent?.proof).toBe('person_signed');
  });

  test('of a link says that nobody was verified', async () => {
    const { consent, warnings } = await verifyReceipt(makeReceipt({ mode: 'link' }), trust);

    expect({ consent, warnings }).toMatchObject({ consent: { unverified: true }, warnings: ['unverified'] });
  });

  test('calls a grant active or expired only by a time that is given', async () => {
    const receipt = makeReceipt({ acts: (acts) => acts.filter(({ action }) => action !== 'grant.revoked') });
    const statusAt = async (now?: string) =>
      (await verifyReceipt(receipt, { ...trust, ...(now && { now: new Date(now) }) })).grants.map(
        ({ status }) => status,
      );

    expect(await statusAt()).toEqual(['active', 'active']);
    expect(await statusAt('1970-01-01T00:00:00Z')).toEqual(['active', 'active']);
    expect(await statusAt('2026-02-01T12:45:00Z')).toEqual(['active', 'expired']);
  });

  test('in a page is found there', async () => {
    const json = JSON.stringify(makeReceipt()).replaceAll('<', '\\u003c');
    const page = `<!doctype html><script type="application/json" id="receipt">${json}</script><p>…`;

    expect(await verifyReceipt(page, trust)).toMatchObject({ ok: true, anchored: true });
  });
});

describe('trust', () => {
  test.each([
    ['nothing', {}],
    ['the JWK Set alone, where a note is there', { jwks }],
    ['keys of another service', { jwks: { keys: [] }, did: { verificationMethod: [] } }],
  ])('in %s leaves a receipt that agrees with itself unanchored', async (_name, known) => {
    expect(await verifyReceipt(makeReceipt(), known)).toMatchObject({ ok: true, anchored: false });
  });

  test('in the JWK Set suffices where the service has no Ed25519 key', async () => {
    expect(await verifyReceipt(makeReceipt({ hasNote: false }), { jwks })).toMatchObject({ anchored: true });
  });

  test('in another log refuses a receipt of this one', async () => {
    const verdict = await verifyReceipt(makeReceipt(), { ...trust, origin: `${ORIGIN.slice(0, -1)}0` });

    expect(verdict).toMatchObject({ ok: false, anchored: false, failed: 'note' });
  });

  test('in more witnesses than signed refuses the receipt', async () => {
    const wanted = { ...trust, witnesses: [WITNESS, WITNESS], quorum: 1 };

    expect(await verifyReceipt(makeReceipt(), wanted)).toMatchObject({ failed: 'witnesses' });
    expect(await verifyReceipt(makeReceipt({ isWitnessed: true }), wanted)).toMatchObject({ ok: true });
    expect(await verifyReceipt(makeReceipt({ isWitnessed: true }), { ...wanted, quorum: 2 })).toMatchObject({
      failed: 'witnesses',
    });
  });
});

describe('a change', () => {
  const receipt = makeReceipt({ isWitnessed: true });
  const own = part(receipt, 11, 'entry/1');
  const [hash = ''] = receipt.entries.flatMap((entry) => ('hash' in entry ? entry.hash : []));
  const [proof = ''] = receipt.proof;
  const { note } = receipt.checkpoint;
  const [consentPart = ''] = receipt.consent?.parts ?? [];
  const changes: [string, unknown, string][] = [
    ['of a part', replaced(receipt, own, bent(own, own.length - 40)), 'inclusion'],
    ['of the hash of an entry', replaced(receipt, hash, hash.replaceAll('a', 'b')), 'inclusion'],
    ['of a proof', replaced(receipt, proof, bent(proof)), 'inclusion'],
    ['by a hash more in the proof', { ...receipt, proof: [...receipt.proof, proof] }, 'inclusion'],
    ['by a hash less in the proof', { ...receipt, proof: receipt.proof.slice(1) }, 'inclusion'],
    ['of the root', { ...receipt, checkpoint: { ...receipt.checkpoint, root: proof } }, 'statement'],
    [
      'of the note',
      { ...receipt, checkpoint: { ...receipt.checkpoint, note: `${note}`.replace('\n19\n', '\n18\n') } },
      'statement',
    ],
    [
      'that leaves out the note',
      { ...receipt, checkpoint: { ...receipt.checkpoint, note: null } },
      'statement',
    ],
    ['of the statement', { ...receipt, statement: bent(receipt.statement, 300) }, 'statement'],
    [
      'of its signature',
      { ...receipt, statement: bent(receipt.statement, receipt.statement.length - 40) },
      'statement',
    ],
    ['of the consent', replaced(receipt, consentPart, bent(consentPart, consentPart.length - 40)), 'consent'],
    ['of the keys', { ...receipt, keys: { ...receipt.keys, jwks: { keys: [] } } }, 'statement'],
    [
      'of a label',
      { ...receipt, labels: { agents: { ag_travel: 'Somebody else' }, scopes: {} } },
      'statement',
    ],
    ['that leaves out an entry', { ...receipt, entries: receipt.entries.slice(1) }, 'inclusion'],
    ['that swaps two entries', { ...receipt, entries: receipt.entries.toReversed() }, 'malformed'],
    ['by a member that nobody knows', { ...receipt, more: true }, 'statement'],
    ['that makes it no receipt', { ...receipt, format: 'behest.receipt/2' }, 'malformed'],
  ];

  test.each(changes)('%s is found', async (_name, changed, failed) => {
    expect(await verifyReceipt(changed, trust)).toMatchObject({ ok: false, anchored: false, failed });
  });

  test('of the note that the service itself signed anew is found by the note', async () => {
    const other = {
      ...receipt,
      checkpoint: { ...receipt.checkpoint, note: `${note}`.replace('\n19\n', '\n18\n') },
    };
    const lied = { ...other, statement: statementOf(other) };

    expect(await verifyReceipt(lied, trust)).toMatchObject({ failed: 'note' });
  });

  test('that swaps entries of two receipts is found', async () => {
    const other = makeReceipt({ acts: (acts) => acts.toReversed() });
    const mixed = { ...receipt, entries: [...receipt.entries.slice(0, 3), ...other.entries.slice(3)] };

    expect(await verifyReceipt(mixed, trust)).toMatchObject({ failed: 'inclusion' });
  });

  test('into no JSON, no receipt or nothing is malformed', async () => {
    const files = [
      '',
      '{',
      '[]',
      'null',
      '<html>',
      undefined,
      7,
      '{"format":"behest.receipt/1"}',
      `${JSON.stringify(receipt).slice(0, -1)},"format":"x"}`,
    ];

    for (const file of files) expect(await verifyReceipt(file, trust)).toMatchObject({ failed: 'malformed' });
  });
});

describe('redacting', () => {
  const receipt = makeReceipt({ isWitnessed: true });
  const names = [
    ...new Set(
      receipt.entries
        .flatMap((entry) => ('parts' in entry ? entry.parts : []))
        .map((each) => {
          const [, name] = JSON.parse(Buffer.from(each, 'base64url').toString());
          return String(name);
        }),
    ),
  ].filter((name) => name !== 'entry/1');

  test.each(names)('%s leaves a receipt that verifies', async (name) => {
    const left = redactReceipt(receipt, { hide: [name] });
    const verdict = await verifyReceipt(left, trust);

    expect(verdict).toMatchObject({ ok: true, anchored: true });
    expect(verdict.warnings).toContain('withheld');
    const texts = receipt.entries.map(({ index }) => part(receipt, index, name)).filter(Boolean);
    const written = JSON.stringify(left);
    expect(texts.length).toBeGreaterThan(0);
    expect(texts.filter((text) => written.includes(text))).toEqual([]);
  });

  test.each(receipt.entries.map(({ index }) => index))(
    'entry %i leaves a receipt that verifies',
    async (index) => {
      const verdict = await verifyReceipt(redactReceipt(receipt, { drop: [index] }), trust);

      expect(verdict).toMatchObject({ ok: true, anchored: true, withheld: 1 });
      expect(verdict.grants.map(({ status }) => status)).not.toContain('active');
    },
  );

  test.each(['consent/1', 'principalId', 'decision', 'proof', 'all'])(
    'the part %s of the consent leaves a receipt that verifies, and no proof of a passkey',
    async (name) => {
      const verdict = await verifyReceipt(redactReceipt(receipt, { hideConsent: [name] }), trust);

      expect(verdict).toMatchObject({ ok: true, anchored: true, consent: { proof: 'withheld' } });
    },
  );

  test('all of it at once leaves a receipt that verifies', async () => {
    const drop = receipt.entries.map(({ index }) => index).slice(2);
    const left = redactReceipt(receipt, { hide: names.slice(0, 3), drop, hideConsent: ['all'] });

    expect(await verifyReceipt(left, trust)).toMatchObject({ ok: true, anchored: true, withheld: 6 });
  });

  test('the entry of the approval takes the record of the consent with it', () => {
    expect(redactReceipt(receipt, { drop: [3] }).consent).toBeNull();
  });

  test('a revocation does not make a grant active', async () => {
    const { grants } = await verifyReceipt(redactReceipt(receipt, { drop: [13, 15] }), trust);

    expect(grants.map(({ status }) => status)).toEqual(['unknown', 'unknown']);
  });

  test('the end of a grant does not make it active', async () => {
    const lasting = makeReceipt({ acts: (acts) => acts.filter(({ action }) => action !== 'grant.revoked') });
    const now = new Date('2026-03-01T12:00:00Z');
    const statusesOf = async (receipt: Receipt) =>
      (await verifyReceipt(receipt, { ...trust, now })).grants.map(({ status }) => status);

    expect(await statusesOf(lasting)).toEqual(['expired', 'expired']); // the control
    expect(await statusesOf(redactReceipt(lasting, { hide: ['metadata.expiresAt'] }))).toEqual([
      'unknown',
      'unknown',
    ]);
  });

  test('that nobody was verified does not make a link a proof', async () => {
    const hide = ['metadata.unverified', 'metadata.method', 'metadata.consentMethod'];
    const verdict = await verifyReceipt(redactReceipt(makeReceipt({ mode: 'link' }), { hide }), trust);

    expect(verdict).toMatchObject({ ok: true, consent: { proof: 'nobody_verified', unverified: true } });
    expect(verdict.warnings).toContain('unverified');
  });

  test.each([
    [{ hide: ['entry/1'] }, 'The facts of an entry cannot be hidden: drop the entry.'],
    [{ hide: ['metadata.nothing'] }, 'No entry of the receipt shows metadata.nothing.'],
    [{ drop: [42] }, 'The receipt has no entry 42.'],
    [{ hideConsent: ['nothing'] }, 'The consent record has no part nothing.'],
  ])('%j says what is wrong', (redaction, message) => {
    expect(() => redactReceipt(receipt, redaction)).toThrow(message);
  });
});

test('a file that lacks as many grants as it has entries is refused at once', () => {
  const lost = Array.from({ length: 50_000 }, (_, at) => ({
    ...{ index: at, seq: at + 1, id: `alog_${at}`, action: 'act', status: 'success', developerId: 'dev_1' },
    ...{ agentId: null, agentDid: null, purpose: null, principalId: null, hidden: 0, metadata: {} },
    ...{ grantId: `grnt_${at}`, timestamp: '2026-02-01T12:00:00.000Z' },
  }));
  const began = performance.now();

  const { faults } = readTree(lost, { rootGrantId: ROOT, grantId: ROOT, withheld: 0, now: undefined });

  expect(faults).toHaveLength(50_001);
  expect(performance.now() - began).toBeLessThan(1_000); // about 20
});

test('2,000 grants of one tree are checked, and a chain of 1,000 is refused in time', async () => {
  const chain = (length: number, parentOf: (at: number) => string) => (acts: Act[]) => [
    ...acts.slice(0, 3),
    ...Array.from({ length }, (_, at) => ({
      action: 'grant.created',
      grantId: `grnt_${at}`,
      metadata: {
        ...{ scopes: ['calendar:read'], expiresAt: '2026-02-01T12:30:00.000Z', consentMethod: 'delegated' },
        ...{ delegationDepth: 1, parentGrantId: parentOf(at) },
      },
    })),
  ];

  const wide = await verifyReceipt(makeReceipt({ acts: chain(2_000, () => ROOT) }), trust);
  const deep = await verifyReceipt(
    makeReceipt({ acts: chain(1_000, (at) => (at === 0 ? ROOT : `grnt_${at - 1}`)) }),
    trust,
  );

  expect({ ok: wide.ok, grants: wide.grants.length }).toEqual({ ok: true, grants: 2_001 });
  expect(deep.failed).toBe('tree');
});
