import { generateKeyPairSync } from 'node:crypto';
import { rootOf, tilesByKey } from '@behest/protocol/merkle-tiles';
import { afterAll, describe, expect, test } from 'vitest';
import { SEED } from '../../../../test/harness/seed.setup.ts';
import { grantTo } from '../app/flow.ts';
import { tamper } from '../app/many-entries.ts';
import {
  type Copy,
  copyOf,
  faultIn,
  faultOfEntries,
  faultOfLog,
  faultOfReceipts,
  keysOf,
  sha256,
} from '../app/outsider.ts';
import { edits, isSame, type Random, randomFrom, rechained, relogged } from '../app/random-edits.ts';
import { fourDeep, raceThrough } from '../app/spending.ts';
import { type Developer, type Service, startApp } from '../app/start-app.ts';

const ED25519_PRIVATE_KEY = String(
  generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }),
);

/** `TEST_EDITS=500` makes a shorter run. */
const EDITS = Number(process.env.TEST_EDITS ?? 10_000);

let starting: Promise<Service> | undefined;
const service = () => {
  starting ??= startApp({ env: { ED25519_PRIVATE_KEY } });
  return starting;
};
afterAll(async () => (await starting)?.stop());

/** An account with two trees of grants, one of them used up to its limits, and so many more entries. */
async function account(more: number) {
  const its = await service();
  const acme = await its.asDeveloper({ mode: 'sandbox' });
  const levels = await fourDeep(acme, () => 4);
  await raceThrough(acme, levels, 20);
  const { grantId, agentId, did } = await grantTo(acme);
  const about = { agentId, agentDid: did, grantId, principalId: 'user_42' };
  for (let number = 0; number < more; number += 1)
    await acme('POST', '/v1/audit/log', {
      ...about,
      action: 'step.done',
      metadata: { number, note: 'É "x"' },
    });
  const grantIds = [String(levels[0]?.grantId), grantId];
  return { its, acme, grantIds, known: await keysOf(its, acme), copy: await copyOf(its, acme, grantIds) };
}

/** The same, with the members of each object in another order. */
function reordered(value: unknown, random: Random): unknown {
  if (Array.isArray(value)) return value.map((each) => reordered(each, random));
  if (typeof value !== 'object' || value === null) return value;
  const members = Object.entries(value).map(([name, each]) => [name, reordered(each, random)] as const);
  const from = random(members.length + 1);
  return Object.fromEntries([...members.slice(from), ...members.slice(0, from)]);
}

describe('somebody with the public keys alone', () => {
  test('finds each of 10,000 random edits of all that an account shows', async () => {
    const { copy, known } = await account(240);
    expect(await faultIn(copy, known)).toBeUndefined();
    const random = randomFrom(SEED);
    const names = Object.keys(edits);
    const unnoticed: string[] = [];
    const counts: Record<string, number> = {};

    for (let number = 0; number < EDITS; ) {
      const name = names[number % names.length] ?? '';
      const edit = edits[name]?.(copy, random) ?? {};
      const edited: Copy = { ...copy, ...edit };
      if (isSame(copy, edited)) continue;
      number += 1;
      const receipts = edited.receipts.filter((text) => !copy.receipts.includes(text));
      const fault =
        (edit.tiles || edit.note ? faultOfLog(edited, known) : undefined) ??
        (edit.entries || edit.tiles || edit.note ? faultOfEntries(edited) : undefined) ??
        (await faultOfReceipts({ ...edited, receipts }, known));
      counts[`${name}: ${fault?.replace(/ \d+/, '')}`] =
        (counts[`${name}: ${fault?.replace(/ \d+/, '')}`] ?? 0) + 1;
      if (fault === undefined) unnoticed.push(`${number} ${name}`);
    }

    expect(unnoticed, JSON.stringify(counts)).toEqual([]);
  }, 1_800_000);

  test('finds nothing in 10,000 copies that nobody has edited', async () => {
    const [small, middle, large] = [await account(0), await account(10), await account(240)];
    const random = randomFrom(SEED);
    const alarms: string[] = [];

    for (let number = 0; number < EDITS; number += 1) {
      const { copy, known } = number % 20 === 0 ? large : number % 2 ? small : middle;
      const same = {
        ...copy,
        entries: reordered(copy.entries, random) as Copy['entries'],
        receipts: copy.receipts.map((text) =>
          JSON.stringify(reordered(JSON.parse(text), random), null, random(3)),
        ),
      };
      const fault = await faultIn(same, known, copy.note);
      if (fault !== undefined) alarms.push(`${number} ${fault}`);
    }

    expect(alarms).toEqual([]);
  }, 1_800_000);
});

interface Target {
  readonly its: Service;
  readonly acme: Developer;
  readonly copy: Copy;
  readonly other: Copy;
}

type Attack = (target: Target) => Promise<unknown>;

/** One statement about the developer, who is $1. */
const sql =
  (statement: string, ...values: unknown[]): Attack =>
  ({ its, acme }) =>
    tamper(its.databaseUrl, statement, [acme.developerId, ...values]);

/** Another value in the entry 5. */
const column = (assignment: string) =>
  sql(`update audit_entries set ${assignment} where developer_id = $1 and seq = 5`);

const tiles = (assignment: string, level = 0) =>
  sql(`update tlog_tiles set hashes = ${assignment} where developer_id = $1 and level = $2`, level);

const log = (assignment: string, ...values: unknown[]) =>
  sql(`update tlog_logs set ${assignment} where developer_id = $1`, ...values);

/** Writes these entries over the chain, as if it had always been so. */
async function overwrite({ its, acme }: Target, entries: Copy['entries']): Promise<void> {
  const run = (statement: string, values: unknown[]) =>
    tamper(its.databaseUrl, statement, [acme.developerId, ...values]);
  for (const { seq, metadata, prevHash, hash } of entries) {
    await run(
      `update audit_entries set metadata = $3, prev_hash = decode($4, 'hex'), hash = decode($5, 'hex')
       where developer_id = $1 and seq = $2`,
      [seq, JSON.stringify(metadata), prevHash, hash],
    );
  }
  await run('delete from audit_entries where developer_id = $1 and seq > $2', [entries.length]);
  await run(`update audit_heads set seq = $2, hash = decode($3, 'hex') where developer_id = $1`, [
    entries.length,
    entries.at(-1)?.hash,
  ]);
}

/** Writes the log of these entries over the log. */
async function overwriteLog({ its, acme, copy }: Target, entries: Copy['entries']): Promise<void> {
  const made = relogged(entries, copy.note);
  const root = rootOf({ start: 0, end: entries.length }, tilesByKey(made.tiles), sha256);
  for (const { level, index, hashes } of made.tiles) {
    await tamper(
      its.databaseUrl,
      'update tlog_tiles set hashes = $4 where developer_id = $1 and level = $2 and idx = $3',
      [acme.developerId, level, index, Buffer.from(hashes)],
    );
  }
  await log('root = $2, size = $3', Buffer.from(root), entries.length)({ its, acme, copy, other: copy });
}

const changed = ({ copy }: Target) =>
  rechained(copy.entries.map((entry) => (entry.seq === 5 ? { ...entry, metadata: { other: true } } : entry)));
const cut = ({ copy }: Target) => copy.entries.slice(0, -3);

const inTurn =
  (...attacks: Attack[]): Attack =>
  async (target) => {
    for (const attack of attacks) await attack(target);
  };

const attacks: Readonly<Record<string, Attack>> = {
  'another action': column(`action = 'other'`),
  'another status': column(`status = 'failure'`),
  'another agent': column(`agent_id = 'ag_other'`),
  'another DID': column(`agent_did = 'did:web:other'`),
  'another grant': column(`grant_id = 'grnt_other'`),
  'another person': column(`principal_id = 'user_7'`),
  'another purpose': column(`purpose = 'other'`),
  'other metadata': column(`metadata = '{"other": true}'`),
  'one more member': column(`metadata = metadata || '{"more": 1}'`),
  'another time': column(`at = at + interval '1 millisecond'`),
  'another id': column(`id = id || 'x'`),
  'another salt': column(`salt = 'AQEBAQEBAQEBAQEBAQEBAQ'`),
  'no salt': column('salt = null'),
  'another hash': column(`hash = sha256('x')`),
  'another hash before': column(`prev_hash = sha256('x')`),
  'an entry is gone': sql('delete from audit_entries where developer_id = $1 and seq = 5'),
  'the first entry is gone': sql('delete from audit_entries where developer_id = $1 and seq = 1'),
  'the last entry is gone': sql(
    'delete from audit_entries e where developer_id = $1 and seq = (select seq from audit_heads h where h.developer_id = $1)',
  ),
  'all entries are gone': sql('delete from audit_entries where developer_id = $1'),
  'an entry more, without a hash that fits': inTurn(
    sql(`insert into audit_entries (developer_id, seq, id, action, status, metadata, at, prev_hash, hash, salt)
         select developer_id, h.seq + 1, 'alog_other', action, status, metadata, e.at, h.hash, sha256('x'), salt
         from audit_entries e join audit_heads h using (developer_id) where developer_id = $1 and e.seq = 5`),
    sql('update audit_heads set seq = seq + 1 where developer_id = $1'),
  ),
  'two entries in each other’s place': inTurn(
    sql('update audit_entries set seq = seq + 1000000 where developer_id = $1 and seq in (5, 6)'),
    sql('update audit_entries set seq = 1000011 - seq where developer_id = $1 and seq > 1000000'),
  ),
  'the end is cut off, and the head set back': (target) => overwrite(target, cut(target)),
  'the end is cut off, of chain and log': inTurn(
    (target) => overwrite(target, cut(target)),
    (target) => overwriteLog(target, cut(target)),
  ),
  'the chain is written again': (target) => overwrite(target, changed(target)),
  'chain and log are written again': inTurn(
    (target) => overwrite(target, changed(target)),
    (target) => overwriteLog(target, changed(target)),
  ),
  'chain and log are written again, and the notes are gone': inTurn(
    (target) => overwrite(target, changed(target)),
    (target) => overwriteLog(target, changed(target)),
    sql('delete from tlog_checkpoints where developer_id = $1'),
  ),
  'a byte in a tile': tiles('set_byte(hashes, 40, (get_byte(hashes, 40) + 1) % 256)'),
  'a byte in a tile of the next level': tiles('set_byte(hashes, 3, (get_byte(hashes, 3) + 1) % 256)', 1),
  'a shorter tile': tiles('substring(hashes from 1 for 32)'),
  'a tile is gone': sql('delete from tlog_tiles where developer_id = $1 and level = 0 and idx = 0'),
  'all tiles are gone': sql('delete from tlog_tiles where developer_id = $1'),
  'another root': log(`root = sha256('x')`),
  'a smaller log': log('size = size - 1'),
  'a larger log': log('size = size + 1'),
  'another name of the log': log(`origin = 'auth.test/log/other'`),
  'a note with another signature': sql(
    `update tlog_checkpoints set note = regexp_replace(note, '.{8}\n$', E'AAAAAAA=\n') where developer_id = $1`,
  ),
  'another log in its place': inTurn(
    ...['tlog_index', 'tlog_checkpoints', 'tlog_tiles', 'tlog_logs'].map((table) =>
      sql(`delete from ${table} where developer_id = $1`),
    ),
  ),
};

let other: Copy | undefined;

describe('somebody with the public keys and the last note', () => {
  test.each(Object.entries(attacks))(
    'finds it, or is refused, when the database has %s',
    async (name, attack) => {
      const { its, acme, grantIds, known, copy } = await account(name.includes('next level') ? 240 : 0);
      other ??= (await account(0)).copy;
      expect(await faultIn(copy, known, copy.note)).toBeUndefined();

      await attack({ its, acme, copy, other });
      const restarted = await startApp({
        env: { ED25519_PRIVATE_KEY },
        databaseUrl: its.databaseUrl,
        isShared: true,
      });
      const there = Object.assign(restarted.calling(acme.apiKey), { ...acme }) as Developer;

      const looks = [
        [its, acme],
        [restarted, there],
      ] as const;
      const found = [];
      for (const [from, caller] of looks) {
        found.push(
          await copyOf(from, caller, grantIds).then(
            async (now) => (await faultIn(now, known, copy.note)) ?? 'nothing',
            (error: Error) => `refused: ${error.message.slice(0, 80)}`,
          ),
        );
      }

      expect(found).not.toContain('nothing');
    },
  );

  test.each([
    ['that names another log', (note: string) => note.replaceAll('auth.test', 'auth.other')],
    ['of another account', (_note: string, others: string) => others],
  ])('gets a right one in place of a note %s', async (_name, otherOf) => {
    const { its, acme, grantIds, known, copy } = await account(0);
    other ??= (await account(0)).copy;

    const changes = 'update tlog_checkpoints set note = $2 where developer_id = $1';
    expect(
      await tamper(its.databaseUrl, changes, [acme.developerId, otherOf(copy.note, other.note)]),
    ).toBeGreaterThan(0);

    const now = await copyOf(its, acme, grantIds);
    expect(now.note).toBe(copy.note);
    expect(await faultIn(now, known, copy.note)).toBeUndefined();
  });
});
