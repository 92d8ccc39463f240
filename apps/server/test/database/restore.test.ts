import { type ChildProcess, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeThrowAway, waitUntil } from '../../../../scripts/machine/folders.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import {
  accountForPostgres,
  createCluster,
  giveTo,
  newPassword,
  startCluster,
  stopCluster,
  USER,
} from '../../../../scripts/postgres/cluster.ts';
import { postgresPrograms } from '../../../../scripts/postgres/programs.ts';
import { migrate } from '../../src/platform/db/migrate.ts';
import { grantTo } from '../app/flow.ts';
import { type Service, startApp } from '../app/start-app.ts';

const account = accountForPostgres();
const programs = postgresPrograms(join(import.meta.dirname, '../../../..'), account);
const password = newPassword();
const servers: ChildProcess[] = [];
let home = '';
let archive = '';

beforeAll(() => {
  home = makeThrowAway('restore');
  archive = join(home, 'archive');
  fs.mkdirSync(archive);
  giveTo(account, archive);
});
afterAll(async () => {
  for (const server of servers) await stopCluster(server);
  fs.rmSync(home, { recursive: true, force: true });
});

/** Starts a server on these files. @returns its address */
async function serve(folder: string, settings: Readonly<Record<string, string>>): Promise<string> {
  const port = await freePort();
  const cluster = { folder, account, programs };
  servers.push(
    await startCluster(cluster, port, { settings: { fsync: 'off', ...settings }, logFile: `${folder}.log` }),
  );
  return `postgres://${USER}:${password}@127.0.0.1:${port}/postgres`;
}

async function connect(url: string): Promise<pg.Client> {
  const client = new pg.Client(url);
  await client.connect();
  return client;
}

/** Copies the files while the server writes to them, with the label that makes the copy valid. */
async function takeBaseBackup(db: pg.Client, data: string, to: string): Promise<void> {
  await db.query("select pg_backup_start('base', true)");
  spawnSync('cp', ['-a', data, to]);
  const { rows } = await db.query('select labelfile from pg_backup_stop(true)');
  fs.writeFileSync(join(to, 'backup_label'), rows[0].labelfile);
  fs.rmSync(join(to, 'postmaster.pid'));
  spawnSync('sh', ['-c', 'rm -rf "$0"/pg_wal/*; mkdir "$0"/pg_wal/archive_status', to]);
}

/** Starts a copy of the backup, which replays the archive as far as `until` says. */
async function restore(
  backup: string,
  name: string,
  until: Readonly<Record<string, string>>,
): Promise<string> {
  const folder = join(home, name);
  spawnSync('cp', ['-a', backup, folder]);
  fs.writeFileSync(join(folder, 'recovery.signal'), '');
  if (account.uid !== undefined) spawnSync('chown', ['-R', `${account.uid}:${account.gid}`, folder]);
  const url = await serve(folder, {
    restore_command: `cp ${archive}/%f %p`,
    recovery_target_action: 'promote',
    ...until,
  });
  const db = await connect(url);
  const isOpen = async () => !(await db.query('select pg_is_in_recovery() as is')).rows[0].is;
  expect(await waitUntil(isOpen, { seconds: 30 })).toBe(true);
  await db.end();
  return url;
}

type Call = ReturnType<Service['calling']>;
const headOf = async (developer: Call) => (await developer('GET', '/v1/audit/head')).json();
const verdictOf = async (developer: Call) => (await developer('GET', '/v1/audit/verify')).json();

test('a base backup and its archive restore everything or an earlier moment, and the chain says which', async () => {
  const data = join(home, 'data');
  createCluster({ folder: data, account, programs }, password);
  const archiving = { wal_level: 'replica', archive_mode: 'on', archive_command: `cp %p ${archive}/%f` };
  const url = await serve(data, archiving);
  await migrate({ connectionString: url });
  const before = await startApp({ databaseUrl: url });
  const acme = await before.asDeveloper({ mode: 'sandbox' });
  const db = await connect(url);

  await grantTo(acme);
  await takeBaseBackup(db, data, join(home, 'base'));
  const { grantId, grantToken: token } = await grantTo(acme);
  await db.query("select pg_create_restore_point('noon')");
  const noon = await headOf(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);
  const latest = await headOf(acme);
  const { rows } = await db.query('select pg_walfile_name(pg_switch_wal()) as file');
  expect(await waitUntil(() => fs.existsSync(join(archive, rows[0].file)), { seconds: 30 })).toBe(true);
  await db.end();

  const [whole, past] = await Promise.all([
    restore(join(home, 'base'), 'whole', {}),
    restore(join(home, 'base'), 'past', { recovery_target_name: 'noon' }),
  ]);
  const asRestored = async (databaseUrl: string) => (await startApp({ databaseUrl })).calling(acme.apiKey);
  const inWhole = await asRestored(whole);
  const inPast = await asRestored(past);

  expect(await verdictOf(inWhole)).toMatchObject({
    valid: true,
    head: { seq: latest.seq, hash: latest.hash },
  });
  expect((await inWhole('POST', '/v1/tokens/verify', { token })).json()).toEqual({
    valid: false,
    reason: 'revoked',
  });

  // The past verifies too: only a head that was noted elsewhere reveals it. And a token that was revoked
  // since then is good again.
  expect(await verdictOf(inPast)).toMatchObject({ valid: true, head: { seq: noon.seq, hash: noon.hash } });
  expect(noon.seq).toBeLessThan(latest.seq);
  expect((await inPast('POST', '/v1/tokens/verify', { token })).json()).toMatchObject({ valid: true });
}, 120_000);
