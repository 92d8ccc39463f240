import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { type Act, did, jwks, makeReceipt, ROOT, WITNESS } from '../../packages/protocol/test/receipts.ts';
import { newMachine } from './program.ts';

/** A machine with a receipt, whose issuer publishes its keys. */
function withReceipt(receipt: object = makeReceipt({ isWitnessed: true })) {
  const machine = newMachine();
  writeFileSync(join(machine.folder, 'receipt.json'), JSON.stringify(receipt));
  const asked: string[] = [];
  const published: Record<string, unknown> = {
    'https://auth.example.test/.well-known/did.json': did,
    'https://auth.example.test/.well-known/jwks.json': jwks,
  };
  const answer = async (url: unknown) => {
    asked.push(String(url));
    return Response.json(published[String(url)] ?? {}, { status: String(url) in published ? 200 : 404 });
  };
  const run = (...words: string[]) => machine.run(['receipt', ...words], { fetch: answer as typeof fetch });
  const keep = (name: string, value: unknown) =>
    writeFileSync(join(machine.folder, name), JSON.stringify(value));
  return { ...machine, run, asked, keep };
}

describe('receipt verify', () => {
  test('fetches the keys of the issuer, and ends with 0 for a genuine receipt', async () => {
    const { run, asked } = withReceipt();

    const { code, out, err } = await run(
      'verify',
      'receipt.json',
      '--witness',
      WITNESS,
      '--quorum',
      '1',
      '--json',
    );

    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(JSON.parse(out)).toMatchObject({
      ...{ status: 'verified', issuer: 'https://auth.example.test', ok: true, anchored: true, failed: null },
      grants: [{ grantId: ROOT, status: 'revoked' }, { status: 'revoked' }],
      ...{ entries: 8, consent: { mode: 'passkey', proof: 'person_signed', unverified: false } },
    });
    expect(asked).toEqual([
      'https://auth.example.test/.well-known/did.json',
      'https://auth.example.test/.well-known/jwks.json',
    ]);
  });

  test('offline asks nobody, and never calls a receipt verified by its own keys', async () => {
    const { run, asked, keep } = withReceipt();
    keep('did.json', did);

    const unanchored = await run('verify', 'receipt.json', '--offline', '--json');
    const allowed = await run('verify', 'receipt.json', '--offline', '--allow-unanchored', '--json');
    const given = await run('verify', 'receipt.json', '--offline', '--did', 'did.json', '--json');

    expect([unanchored, allowed, given].map(({ code, out }) => [code, JSON.parse(out).status])).toEqual([
      [1, 'unanchored'],
      [0, 'unanchored'],
      [0, 'verified'],
    ]);
    expect(unanchored.err).toContain('anybody may have made it');
    expect(asked).toEqual([]);
  });

  test('names what is wrong, and ends with 1', async () => {
    const { run, keep } = withReceipt();
    keep('changed.json', { ...makeReceipt(), generatedAt: '2026-02-02T00:00:00.000Z' });

    keep('nothing.json', {});

    const changed = await run('verify', 'changed.json');

    expect((await run('verify', 'nothing.json')).code).toBe(2);
    expect(changed.code).toBe(1);
    expect(changed.err).toBe('The check "statement" failed: other_head.\n');
  });

  test('ends with 8 where the keys cannot be had, and fetches them from https alone', async () => {
    const elsewhere = withReceipt(makeReceipt({ file: { issuer: 'https://gone.example.test' } }));
    const plain = withReceipt(makeReceipt({ file: { issuer: 'http://auth.example.test' } }));

    const gone = await elsewhere.run('verify', 'receipt.json');

    expect(gone.code).toBe(8);
    expect(gone.err).toContain(
      'Fetching the keys failed: https://gone.example.test/.well-known/did.json answered 404.',
    );
    expect((await plain.run('verify', 'receipt.json')).code).toBe(2);
    expect(plain.asked).toEqual([]);
  });

  test('against an export names the entries that a receipt leaves out', async () => {
    const isKept = ({ action }: Act) => action !== 'payment.initiated';
    const { run, keep } = withReceipt(makeReceipt({ acts: (acts) => acts.filter(isKept) }));
    const entries = [
      { seq: 2, id: 'alog_0', action: 'authorization.requested', grantId: null, metadata: {} },
      {
        seq: 8,
        id: 'alog_x',
        action: 'grant.created',
        grantId: 'grnt_new',
        metadata: { parentGrantId: ROOT },
      },
      { seq: 9, id: 'alog_y', action: 'payment.initiated', grantId: 'grnt_new', metadata: {} },
      { seq: 9_000, id: 'alog_z', action: 'payment.initiated', grantId: ROOT, metadata: {} },
      { seq: 11, id: 'alog_o', action: 'payment.initiated', grantId: 'grnt_of_others', metadata: {} },
    ];
    keep('export.json', { entries });

    const { code, out } = await run('verify', 'receipt.json', '--against', 'export.json', '--json');

    expect({ code, leftOut: JSON.parse(out).leftOut }).toEqual({
      code: 1,
      leftOut: [{ seq: 9, id: 'alog_y', action: 'payment.initiated' }],
    });
  });
});

test('receipt show tells the life of a grant, line by line', async () => {
  const { run } = withReceipt();

  const { code, out } = await run('show', 'receipt.json', '--output', 'table');

  expect(code).toBe(0);
  for (const words of [
    'verified  https://auth.example.test',
    'consent  passkey  person_signed',
    'payment.initiated',
  ])
    expect(out).toContain(words);
  expect(out).toContain(`grant  ${ROOT}  ag_travel  revoked  calendar:read tool:pay:write:capped:500`);
});

test('receipt redact takes parts out, and what is left verifies', async () => {
  const { run, folder } = withReceipt();
  const hiding = ['--hide', 'metadata.ip,metadata.amount', '--drop', '7', '--hide-consent', 'proof'];

  const redacted = await run('redact', 'receipt.json', ...hiding, '--out', 'shared.json');
  const { code, out } = await run('verify', 'shared.json', '--json');
  const refused = await run('redact', 'receipt.json', '--hide', 'entry/1');

  expect(redacted).toMatchObject({ code: 0, out: '' });
  expect(readFileSync(join(folder, 'shared.json'), 'utf8')).toContain('"leafHash"');
  expect({ code, ...JSON.parse(out) }).toMatchObject({
    code: 0,
    status: 'verified',
    withheld: 1,
    warnings: ['withheld'],
  });
  expect(refused.code).toBe(2);
  expect(refused.err).toContain('The facts of an entry cannot be hidden: drop the entry.');
  expect((await run('redact', 'receipt.json', '--drop', 'x')).code).toBe(2);
});

test('receipt get writes the receipt of a grant, and receipt page the page that checks it', async () => {
  const machine = newMachine();
  const asked: string[] = [];
  const answer = async (url: unknown) => {
    asked.push(String(url));
    return new Response(asked.length === 1 ? '{"format":"behest.receipt/1"}' : '<!doctype html>');
  };
  const around = {
    fetch: answer as typeof fetch,
    env: { BEHEST_URL: 'https://auth.example.test', BEHEST_API_KEY: 'key' },
  };

  const got = await machine.run(['receipt', 'get', 'grnt_1', '--out', 'receipt.json'], around);
  const page = await machine.run(['receipt', 'page', '--out', 'verify.html'], around);

  expect([got.code, page.code]).toEqual([0, 0]);
  expect(asked).toEqual([
    'https://auth.example.test/v1/grants/grnt_1/receipt',
    'https://auth.example.test/verify',
  ]);
  expect(readFileSync(join(machine.folder, 'receipt.json'), 'utf8')).toContain('behest.receipt/1');
  expect(readFileSync(join(machine.folder, 'verify.html'), 'utf8')).toBe('<!doctype html>');
});
