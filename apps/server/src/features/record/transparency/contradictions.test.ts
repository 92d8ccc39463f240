import { generateKeyPairSync } from 'node:crypto';
import { auditLine } from '@behest/protocol/audit-line';
import { leafOf, partsOf } from '@behest/protocol/audit-parts';
import { rootOf, tilesByKey } from '@behest/protocol/merkle-tiles';
import { describe, expect, test } from 'vitest';
import { refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { tamper } from '../../../../test/app/many-entries.ts';
import { ADMIN_API_KEY, type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { sha256 } from './transparency.rules.ts';

const KEY = String(generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
const options = { env: { ED25519_PRIVATE_KEY: KEY }, logLevel: 'fatal' } as const;

/** An account whose six entries are in its log. */
async function logged() {
  const service = await startApp(options);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  for (let agent = 2; agent <= 6; agent += 1) await registerAgent(acme, `Agent ${agent}`);
  expect((await acme('GET', '/v1/transparency')).json()).toMatchObject({ treeSize: 6, halted: null });
  return { service, acme };
}

/** A process that starts on the same database, and so remembers nothing. */
const restarted = async ({ databaseUrl }: Service, { apiKey }: Developer) => {
  const service = await startApp({ ...options, databaseUrl });
  return { service, call: service.calling(apiKey) };
};

/** Changes an entry, and all hashes after it, as somebody who knows the chain would: it verifies again. */
async function rewrite(service: Service, acme: Developer, seq: number): Promise<void> {
  const { entries } = (await acme('GET', '/v1/audit/entries')).json();
  let prevHash: string | null = null;
  for (const entry of entries) {
    const changed = {
      ...entry,
      prevHash,
      ...(entry.seq === seq && { metadata: { ...entry.metadata, name: 'Other' } }),
    };
    const hash: string = sha256(Buffer.from(auditLine(changed))).toString('hex');
    await tamper(
      service.databaseUrl,
      `update audit_entries set metadata = $3, prev_hash = decode($4, 'hex'), hash = decode($5, 'hex')
       where developer_id = $1 and seq = $2`,
      [acme.developerId, entry.seq, JSON.stringify(changed.metadata), prevHash, hash],
    );
    prevHash = hash;
  }
  await tamper(
    service.databaseUrl,
    `update audit_heads set hash = decode($2, 'hex') where developer_id = $1`,
    [acme.developerId, prevHash],
  );
}

/** Makes the log out of the entries as they are now, as if it had always been so. */
async function rebuild(service: Service, acme: Developer): Promise<void> {
  const { entries } = (await acme('GET', '/v1/audit/entries')).json();
  const leaves: Uint8Array[] = entries.map((entry: Parameters<typeof partsOf>[0] & { hash: string }) =>
    leafOf(entry.hash, partsOf(entry, sha256), sha256),
  );
  const hashes = Buffer.concat(leaves);
  const root = rootOf({ start: 0, end: leaves.length }, tilesByKey([{ level: 0, index: 0, hashes }]), sha256);
  const { developerId } = acme;
  await tamper(service.databaseUrl, 'update tlog_tiles set hashes = $2 where developer_id = $1', [
    developerId,
    hashes,
  ]);
  const values = [developerId, Buffer.from(root), leaves.length];
  await tamper(
    service.databaseUrl,
    'update tlog_logs set root = $2, size = $3 where developer_id = $1',
    values,
  );
}

/** Deletes the entries after `seq`, and sets the head back as if they had never existed. */
async function cut(service: Service, { developerId }: Developer, seq: number): Promise<void> {
  const values = [developerId, seq];
  await tamper(service.databaseUrl, 'delete from audit_entries where developer_id = $1 and seq > $2', values);
  await tamper(
    service.databaseUrl,
    `update audit_heads h set seq = e.seq, hash = e.hash, at = e.at from audit_entries e
     where h.developer_id = $1 and e.developer_id = h.developer_id and e.seq = $2`,
    values,
  );
}

const verify = async (acme: Developer) => (await acme('GET', '/v1/audit/verify')).json();
const notesOf = async ({ db }: Service, { developerId }: Developer) =>
  db.selectFrom('tlogCheckpoints').select(['size', 'note']).where('developerId', '=', developerId).execute();

describe('a log is halted, with the reason, and nothing is signed any more', () => {
  test.each([
    [
      'tiles',
      'a hash in a tile was changed',
      (service: Service, acme: Developer) =>
        tamper(
          service.databaseUrl,
          'update tlog_tiles set hashes = set_byte(hashes, 3, 7) where developer_id = $1',
          [acme.developerId],
        ),
    ],
    [
      'truncated',
      'the end of the chain was cut',
      (service: Service, acme: Developer) => cut(service, acme, 4),
    ],
    [
      'rewritten',
      'the end of the chain was cut, and it has grown again',
      async (service: Service, acme: Developer) => {
        await cut(service, acme, 4);
        for (const name of ['Fifth', 'Sixth']) await registerAgent(acme, name);
      },
    ],
    [
      'rewritten',
      'the chain was written again',
      (service: Service, acme: Developer) => rewrite(service, acme, 2),
    ],
    [
      'rollback',
      'the chain and the log were cut together',
      async (service: Service, acme: Developer) => {
        await cut(service, acme, 4);
        await rebuild(service, acme);
      },
    ],
    [
      'fork',
      'the chain and the log were written again',
      async (service: Service, acme: Developer) => {
        await rewrite(service, acme, 2);
        await rebuild(service, acme);
      },
    ],
    [
      'replaced',
      'another log stands in its place',
      async (service: Service, acme: Developer) => {
        for (const table of ['tlog_index', 'tlog_checkpoints', 'tlog_tiles', 'tlog_logs']) {
          await tamper(service.databaseUrl, `delete from ${table} where developer_id = $1`, [
            acme.developerId,
          ]);
        }
      },
    ],
    [
      'replaced',
      'it has the name of another log',
      (service: Service, acme: Developer) =>
        tamper(
          service.databaseUrl,
          `update tlog_logs set origin = 'auth.test/log/' || repeat('f', 32) where developer_id = $1`,
          [acme.developerId],
        ),
    ],
    [
      'gap',
      'an entry that was not in the log yet is gone',
      async (service: Service, acme: Developer) => {
        await registerAgent(acme, 'Seventh');
        await registerAgent(acme, 'Eighth');
        await tamper(service.databaseUrl, 'delete from audit_entries where developer_id = $1 and seq = 7', [
          acme.developerId,
        ]);
      },
    ],
    [
      'changed',
      'an entry that was not in the log yet says something else',
      async (service: Service, acme: Developer) => {
        await registerAgent(acme, 'Seventh');
        await tamper(
          service.databaseUrl,
          `update audit_entries set metadata = '{"name": "Other"}' where developer_id = $1 and seq = 7`,
          [acme.developerId],
        );
      },
    ],
  ])('%s: %s', async (reason, _what, attack) => {
    const { service, acme } = await logged();
    await attack(service, acme);
    const before = await notesOf(service, acme);
    if (!['gap', 'changed'].includes(reason)) await registerAgent(acme, 'Next');

    await service.runJob('transparency logs');

    expect((await acme('GET', '/v1/transparency')).json()).toMatchObject({ halted: reason });
    for (const proof of ['inclusion?seq=1', 'consistency?from=1']) {
      const refused = await acme('GET', `/v1/transparency/${proof}`);
      expect(refusalOf(refused)).toBe('503 SERVICE_UNAVAILABLE');
      expect(refused.json().details).toEqual({ dependency: 'log' });
    }
    expect(await notesOf(service, acme)).toEqual(before);
    const { entries } = (await acme('GET', '/v1/audit/entries?action=transparency.halted')).json();
    expect(entries.map(({ metadata }: { metadata: object }) => metadata)).toEqual([
      {
        origin: expect.stringMatching(/^auth[.]test[/]log[/]/),
        reason,
        size: expect.any(Number),
        actor: 'system',
      },
    ]);
    const lines = service.logLines.map((line) => JSON.parse(line));
    expect(lines).toMatchObject([{ developerId: acme.developerId, reason, level: 'fatal' }]);
  });

  test('fork: a process that starts afterwards finds it by the note that was kept', async () => {
    const { service, acme } = await logged();
    await rewrite(service, acme, 2);
    await rebuild(service, acme);
    const next = await restarted(service, acme);

    await next.call('POST', '/v1/agents', { name: 'Next' });
    await next.service.runJob('transparency logs behind');

    expect(next.service.logLines.map((line) => JSON.parse(line).reason)).toEqual(['fork']);
  });

  test.each([
    ['rollback', (service: Service, acme: Developer) => cut(service, acme, 5)],
    ['fork', (service: Service, acme: Developer) => rewrite(service, acme, 5)],
  ] as const)(
    '%s: a process that has seen less finds it by the note of one that has seen more',
    async (reason, attack) => {
      const service = await startApp(options);
      const acme = await service.asDeveloper({ mode: 'sandbox' });
      const other = await restarted(service, acme);
      for (let agent = 2; agent <= 4; agent += 1) await registerAgent(acme, `Agent ${agent}`);
      for (const call of [acme, other.call])
        expect((await call('GET', '/v1/transparency')).json()).toMatchObject({ treeSize: 4 });
      for (let agent = 5; agent <= 6; agent += 1) await registerAgent(acme, `Agent ${agent}`);
      expect((await acme('GET', '/v1/transparency')).json()).toMatchObject({ treeSize: 6 });
      await attack(service, acme);
      await rebuild(service, acme);

      expect((await other.call('GET', '/v1/transparency')).json()).toMatchObject({ halted: reason });
    },
  );

  test.each([
    'inclusion?seq=2',
    'inclusion?seq=4&treeSize=5',
    'consistency?from=2',
    'consistency?from=2&to=4',
  ])('tiles: a proof that does not lead to the root is not given: %s', async (proof) => {
    const { service, acme } = await logged();
    await tamper(
      service.databaseUrl,
      'update tlog_tiles set hashes = set_byte(hashes, 3, 7) where developer_id = $1',
      [acme.developerId],
    );

    expect(refusalOf(await acme('GET', `/v1/transparency/${proof}`))).toBe('503 SERVICE_UNAVAILABLE');
    expect(service.logLines.map((line) => JSON.parse(line).reason)).toEqual(['tiles']);
  });
});

test('a tree that somebody has put into the database is not signed for those who read the public note', async () => {
  const { service, acme } = await logged();
  const { url } = (await acme('GET', '/v1/transparency')).json();
  const read = () => service.app.inject({ method: 'GET', url: `${new URL(url).pathname}/checkpoint` });
  const { body: note } = await read();
  await cut(service, acme, 4);
  await rebuild(service, acme);

  expect((await read()).body).toBe(note);
  await tamper(service.databaseUrl, 'delete from tlog_checkpoints where developer_id = $1', [
    acme.developerId,
  ]);
  expect(refusalOf(await read())).toBe('503 SERVICE_UNAVAILABLE');
  await service.runJob('transparency logs behind');
  expect(refusalOf(await read())).toBe('503 SERVICE_UNAVAILABLE');
  expect((await acme('GET', '/v1/transparency')).json()).toMatchObject({ halted: 'rollback' });
});

describe('the operator', () => {
  const restart = (service: Service, developerId: string) =>
    service.calling(ADMIN_API_KEY)('POST', `/v1/admin/developers/${developerId}/log-restart`, {});

  test('begins another log for an account whose log is halted, and the old one stays readable', async () => {
    const { service, acme } = await logged();
    const old = (await acme('GET', '/v1/transparency')).json();
    const noteOf = (logId: string) => service.app.inject({ method: 'GET', url: `/log/${logId}/checkpoint` });
    const { body: oldNote } = await noteOf(old.logId);
    await cut(service, acme, 4);
    await service.runJob('transparency logs behind');
    expect((await acme('GET', '/v1/transparency')).json()).toMatchObject({ halted: 'truncated' });

    const restarted = await restart(service, acme.developerId);

    const now = (await acme('GET', '/v1/transparency')).json();
    expect(now).toMatchObject({ halted: null, treeSize: 6 });
    expect(now.logId).not.toBe(old.logId);
    const told = { oldOrigin: old.origin, oldSize: 6, oldRoot: old.rootHash, newOrigin: now.origin };
    expect(restarted.json()).toEqual(told);
    const { entries } = (await acme('GET', '/v1/audit/entries?action=transparency.restarted')).json();
    expect(entries.map(({ metadata }: { metadata: object }) => metadata)).toEqual([
      { ...told, actor: 'system' },
    ]);
    expect((await noteOf(old.logId)).body).toBe(oldNote);
    expect((await noteOf(now.logId)).body.split('\n').slice(0, 2)).toEqual([now.origin, '6']);
    await registerAgent(acme, 'Next');
    expect((await acme('GET', '/v1/transparency')).json()).toMatchObject({ halted: null, treeSize: 7 });
  });

  test('begins another log for an account whose log a witness contradicts', async () => {
    const { service, acme } = await logged();
    const { logId, treeSize } = (await acme('GET', '/v1/transparency')).json();
    await tamper(
      service.databaseUrl,
      `insert into tlog_witnesses (developer_id, gen, witness, next_at, error) values ($1, 1, 'w', now(), 'contradicted')`,
      [acme.developerId],
    );

    expect((await restart(service, acme.developerId)).statusCode).toBe(200);

    const now = (await acme('GET', '/v1/transparency')).json();
    expect(now).toMatchObject({ halted: null, treeSize: treeSize + 1, witnesses: [] });
    expect(now.logId).not.toBe(logId);
  });

  test('restarts no log that is good, and none that is not there', async () => {
    const { service, acme } = await logged();
    const fresh = await service.asDeveloper();

    expect(refusalOf(await restart(service, acme.developerId))).toBe('409 CONFLICT');
    expect(refusalOf(await restart(service, fresh.developerId))).toBe('404 NOT_FOUND');
    expect(refusalOf(await restart(service, 'dev_unknown'))).toBe('404 NOT_FOUND');
    expect((await acme('GET', '/v1/transparency')).json()).toMatchObject({ halted: null, treeSize: 6 });
  });
});

test('an entry that was changed in its log is not proved', async () => {
  const { service, acme } = await logged();
  await tamper(
    service.databaseUrl,
    `update audit_entries set metadata = '{"name": "Other"}' where developer_id = $1 and seq = 3`,
    [acme.developerId],
  );

  expect(refusalOf(await acme('GET', '/v1/transparency/inclusion?seq=3'))).toBe('503 SERVICE_UNAVAILABLE');
  expect((await acme('GET', '/v1/transparency/inclusion?seq=4')).statusCode).toBe(200);
  expect((await acme('GET', '/v1/transparency')).json()).toMatchObject({ halted: null });
  expect(await verify(acme)).toMatchObject({ valid: false, problem: 'hash_mismatch' });
});

describe('a verification of the chain', () => {
  test('names an entry at or before which the chain was written again', async () => {
    const { service, acme } = await logged();
    const { entries } = (await acme('GET', '/v1/audit/entries')).json();
    await rewrite(service, acme, 2);

    expect(await verify(acme)).toMatchObject({
      valid: false,
      problem: 'leaf_mismatch',
      firstBrokenAt: entries[5].id,
    });
  });

  test('says that the chain ends before its log', async () => {
    const { service, acme } = await logged();
    await cut(service, acme, 4);

    expect(await verify(acme)).toMatchObject({ valid: false, problem: 'truncated', firstBrokenAt: null });
  });

  test('finds nothing in a chain that nobody touched, in the log or not yet', async () => {
    const { acme } = await logged();
    await registerAgent(acme, 'Next');

    expect(await verify(acme)).toMatchObject({ valid: true, checkedEntries: 7 });
  });
});
