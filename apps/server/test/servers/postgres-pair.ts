import type { ChildProcess } from 'node:child_process';
import { execFileSync } from 'node:child_process';
import { appendFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { makeThrowAway } from '../../../../scripts/machine/folders.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import { signal, waitUntil } from '../../../../scripts/machine/processes.ts';
import {
  accountForPostgres,
  createCluster,
  giveTo,
  newPassword,
  startCluster,
  USER,
} from '../../../../scripts/postgres/cluster.ts';
import { postgresPrograms } from '../../../../scripts/postgres/programs.ts';
import { childrenOf } from './own-servers.ts';
import { execute } from './postgres.ts';
import { relayTo } from './relay.ts';

const ROOT = join(import.meta.dirname, '../../../..');
const STANDBY = 'standby';

/** A kill of the server keeps what it wrote, because the system holds it and does not crash here. */
const SETTINGS = { fsync: 'off', full_page_writes: 'off', autovacuum: 'off' };

/** The standby has every acknowledged commit. Without these settings the primary does not wait for it. */
const SYNCHRONOUS = { synchronous_standby_names: STANDBY, synchronous_commit: 'remote_apply' };

/** A primary and its streaming standby, with one address for both. They end with the test. */
export async function postgresPair({ isSynchronous }: { readonly isSynchronous: boolean }) {
  const home = makeThrowAway('pair');
  const servers: ChildProcess[] = [];
  onTestFinished(async () => {
    await Promise.all(servers.map(killAll));
    rmSync(home, { recursive: true, force: true });
  });
  const account = accountForPostgres();
  const programs = postgresPrograms(ROOT, account);
  const [password, port, standbyPort] = [newPassword(), await freePort(), await freePort()];
  const [first, second] = [join(home, 'primary'), join(home, STANDBY)];
  createCluster({ folder: first, account, programs }, password);
  // The base backup of a server before its first start: a copy. The package has no pg_basebackup.
  execFileSync('cp', ['-a', first, second]);
  writeFileSync(join(second, 'standby.signal'), '');
  giveTo(account, join(second, 'standby.signal'));
  const source = `host=127.0.0.1 port=${port} user=${USER} password=${password} application_name=${STANDBY}`;
  appendFileSync(join(second, 'postgresql.auto.conf'), `primary_conninfo = '${source}'\n`);

  const start = async (folder: string, at: number, settings = {}) => {
    const logFile = `${folder}.log`;
    const all = { ...SETTINGS, ...settings };
    const server = await startCluster({ folder, account, programs }, at, { settings: all, logFile });
    servers.push(server);
    return server;
  };
  const urlAt = (at: number) => `postgres://${USER}:${password}@127.0.0.1:${at}/postgres`;
  const primary = await start(first, port, isSynchronous ? SYNCHRONOUS : {});
  await start(second, standbyPort);
  const streams = async () =>
    ((await execute(urlAt(port), 'select from pg_stat_replication')).rowCount ?? 0) > 0;
  if (!(await waitUntil(streams, { seconds: 20 }))) throw new Error('The standby does not stream.');

  let current = port;
  const relay = await relayTo(() => current);
  onTestFinished(() => relay.close());
  return {
    url: urlAt(relay.port),
    /** Ends all processes of the primary at once, as the loss of its machine does. */
    killPrimary: () => killAll(primary),
    /** Leads new connections to the standby, promoted or not. */
    leadToStandby: () => {
      current = standbyPort;
    },
    promote: () => execute(urlAt(standbyPort), 'select pg_promote()'),
    /** Ends the stream to the standby, which then lacks later commits. */
    async cutOff() {
      await execute(urlAt(standbyPort), 'alter system reset primary_conninfo');
      await execute(urlAt(standbyPort), 'select pg_reload_conf()');
      if (!(await waitUntil(async () => !(await streams()), { seconds: 20 })))
        throw new Error('The standby still streams.');
    },
  };
}

async function killAll(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const ended = new Promise((resolve) => server.once('exit', resolve));
  const pid = server.pid ?? 0;
  for (const each of [pid, ...childrenOf(pid)]) signal(each, 'SIGKILL');
  await ended;
}
