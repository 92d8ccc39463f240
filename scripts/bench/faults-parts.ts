import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { end, type Server, startServer } from '../../test/harness/servers.ts';
import { readPid, signal, waitUntil } from '../machine/folders.ts';
import { freePort } from '../machine/ports.ts';
import { accountForPostgres, giveTo } from '../postgres/cluster.ts';
import { ask, type ClusterNode, formCluster, isLinked, newPassword, redisUrl } from '../redis/server.ts';
import * as configurations from './faults-configurations.ts';

/** One part of a service that can be killed, with what a supervisor would do next. */
export interface Part {
  readonly name: string;
  /** @returns what starts it again, which a part with its own supervisor does not need */
  readonly kill: () => Promise<() => Promise<void>>;
  /** True when its place is taken by another one, so that it starts again only when writes go on. */
  readonly isReplaced: boolean;
}

export interface Parts {
  /** Where clients reach the service. */
  readonly port: number;
  readonly list: readonly Part[];
  /** Tells whether each part has its partner again. */
  readonly isWhole: () => Promise<boolean>;
}

const NEEDED = { patroni: 'patroni', haproxy: 'haproxy', pgbouncer: 'pgbouncer', etcd: 'etcd-server' };
const POSTGRES = '/usr/lib/postgresql';

/** @returns the names of the Debian packages that are absent */
export function absentPackages(): string[] {
  const has = (program: string) => spawnSync('sh', ['-c', `command -v ${program}`]).status === 0;
  const programs = Object.entries({ ...NEEDED, 'redis-server': 'redis-server' });
  const absent = programs.filter(([program]) => !has(program)).map(([, name]) => name);
  return postgresPrograms() === undefined ? [...absent, 'postgresql'] : absent;
}

function postgresPrograms(): string | undefined {
  const versions = fs.existsSync(POSTGRES) ? fs.readdirSync(POSTGRES).map(Number) : [];
  const [newest] = versions.filter((version) => version >= 15).sort((a, b) => b - a);
  return newest === undefined ? undefined : join(POSTGRES, String(newest), 'bin');
}

const NODES = ['a', 'b'] as const;
const SENTINELS = ['sentinel-1', 'sentinel-2', 'sentinel-3'] as const;
const SERVERS = ['server-1', 'server-2'] as const;
const MASTERS = 3;
const CLUSTER = ['redis-1', 'redis-2', 'redis-3', 'redis-4', 'redis-5', 'redis-6'] as const;
const PROGRAMS = ['etcd', 'etcd-peer', 'haproxy', 'haproxy-postgres', 'haproxy-redis', 'pgbouncer'] as const;

/**
 * Starts everything on loopback: HAProxy before two processes of the service; PgBouncer before HAProxy before a primary and
 * a standby under Patroni; and HAProxy before a primary and a replica of Redis under three Sentinels, or a Redis Cluster of
 * three primaries and three replicas.
 */
export async function startParts(
  folder: string,
  cleanUp: AsyncDisposableStack,
  kind: 'sentinels' | 'cluster',
): Promise<Parts> {
  const account = accountForPostgres();
  const running = new Map<string, ChildProcess>();
  const ports: Record<string, number> = {};
  for (const node of NODES) {
    for (const kind of ['postgres', 'patroni', 'redis']) ports[`${kind}-${node}`] = await freePort();
  }
  const buses = CLUSTER.map((name) => `${name}-bus`);
  for (const name of [...SENTINELS, ...SERVERS, ...PROGRAMS, ...CLUSTER, ...buses])
    ports[name] = await freePort();
  const portOf = (name: string): number => ports[name] ?? 0;
  const place = { folder, password: newPassword(), portOf, programs: postgresPrograms() ?? '' };

  const start = (name: string, command: string, flags: readonly string[], isPostgres = false) => {
    const log = fs.openSync(join(folder, `${name}.log`), 'a');
    const child = spawn(command, flags, {
      ...(isPostgres && account),
      cwd: folder,
      stdio: ['ignore', log, log],
      env: { PATH: process.env.PATH, LC_ALL: 'C.UTF-8' },
    });
    fs.closeSync(log);
    running.set(name, child);
  };
  const write = (name: string, text: string): string => {
    const file = join(folder, name);
    fs.writeFileSync(file, text, { mode: 0o600 });
    giveTo(account, file);
    return file;
  };
  const killed = async (name: string) => {
    const child = running.get(name);
    if (child) await end(child, 'SIGKILL');
  };
  const redisAt = (node: string) => ({ port: portOf(`redis-${node}`), password: place.password });
  const postmaster = (node: string) => readPid(join(folder, node, 'data', 'postmaster.pid'));

  const starts = {
    etcd: () => start('etcd', 'etcd', configurations.etcd(place)),
    haproxy: () =>
      start('haproxy', 'haproxy', ['-db', '-f', write('haproxy.cfg', configurations.haproxy(place))]),
    pgbouncer: () => {
      write('users.txt', `"behest" "${place.password}"\n`);
      start('pgbouncer', 'pgbouncer', [write('pgbouncer.ini', configurations.pgbouncer(place))], true);
    },
    patroni: (node: string) =>
      start(
        `patroni-${node}`,
        'patroni',
        [write(`patroni-${node}.yml`, configurations.patroni(place, node))],
        true,
      ),
    /** Sentinel has to be asked first: a primary that comes back as one would take writes beside the new one. */
    redis: (node: string) => {
      const primary = primaryBySentinel();
      start(`redis-${node}`, 'redis-server', [
        write(`redis-${node}.conf`, configurations.redis(place, node, primary)),
      ]);
    },
    clusterNode: (name: string) =>
      start(name, 'redis-server', [write(`${name}.conf`, configurations.clusterNode(place, name))]),
    sentinel: (name: string) => {
      const file = join(folder, `${name}.conf`); // Sentinel keeps its state in it
      if (!fs.existsSync(file)) write(`${name}.conf`, configurations.sentinel(place, name));
      start(name, 'redis-server', [file, '--sentinel']);
    },
  };
  /** Sentinels write down whom they agreed on; one that is down may have missed it, so the highest epoch counts. */
  const primaryBySentinel = (): number => {
    const kept = SENTINELS.map((name) => join(folder, `${name}.conf`))
      .filter((file) => fs.existsSync(file))
      .map((file) => fs.readFileSync(file, 'utf8'))
      .map((text) => ({
        epoch: Number(/^sentinel config-epoch behest (\d+)/m.exec(text)?.[1] ?? 0),
        port: Number(/^sentinel monitor behest \S+ (\d+)/m.exec(text)?.[1]),
      }))
      .sort((a, b) => b.epoch - a.epoch);
    return kept[0]?.port || portOf('redis-a');
  };

  const endAll = () => {
    for (const child of running.values()) child.kill('SIGKILL');
    for (const node of NODES) if (postmaster(node)) signal(postmaster(node), 'SIGKILL'); // Patroni detaches it
  };
  process.once('exit', endAll);
  cleanUp.defer(async () => {
    process.off('exit', endAll);
    endAll();
    await Promise.all([...running.values()].map((child) => end(child, 'SIGKILL')));
  });

  for (const node of NODES) {
    fs.mkdirSync(join(folder, node), { mode: 0o700 });
    giveTo(account, join(folder, node));
  }
  starts.etcd();
  const clusterNodes = CLUSTER.map((name) => ({
    ...{ name, port: portOf(name), busPort: portOf(`${name}-bus`), password: place.password },
  }));
  if (kind === 'cluster') {
    for (const name of CLUSTER) starts.clusterNode(name);
    await mustBecome('Redis', () => areAll(clusterNodes, answers));
    await formCluster(clusterNodes, MASTERS);
  } else {
    for (const node of NODES) starts.redis(node);
    for (const name of SENTINELS) starts.sentinel(name);
  }
  for (const node of NODES) {
    starts.patroni(node);
    await mustBecome(`Patroni ${node}`, async () => (await roleOf(portOf(`patroni-${node}`))) !== undefined);
  }
  starts.haproxy();
  starts.pgbouncer();
  await mustBecome('HAProxy before the primary', () => makeDatabase(place));

  const servers = new Map<string, Server>();
  const startOne = async (name: string) => {
    const stores = {
      databaseUrl: configurations.databaseUrl(place, 'pgbouncer', 'behest'),
      redisUrl:
        kind === 'cluster'
          ? clusterNodes.map(redisUrl).join(',')
          : redisUrl({ port: portOf('haproxy-redis'), password: place.password }),
    };
    const env = {
      PORT: String(portOf(name)),
      PUBLIC_BASE_URL: `http://127.0.0.1:${portOf('haproxy')}`, // one service, so one issuer
      MIGRATION_DATABASE_URL: configurations.databaseUrl(place, 'haproxy-postgres', 'behest'),
      DATABASE_PREPARED_STATEMENTS: 'false', // Debian 12 has PgBouncer 1.18
    };
    servers.set(name, await startServer(stores, { folder: join(folder, name), env }));
  };
  for (const name of SERVERS) await startOne(name);
  cleanUp.defer(async () => {
    await Promise.all([...servers.values()].map(({ kill }) => kill()));
  });

  const nodeOfRole = async (isPrimary: boolean): Promise<string> => {
    for (const node of NODES) {
      const role = await roleOf(portOf(`patroni-${node}`));
      if (role !== undefined && isPrimary === (role === 'master' || role === 'primary')) return node;
    }
    throw new Error('Patroni has no such node.');
  };
  const nodeOfRedis = (isPrimary: boolean): string => {
    const at = primaryBySentinel();
    return NODES.find((node) => isPrimary === (portOf(`redis-${node}`) === at)) ?? 'a';
  };
  const killMachine = async (isPrimary: boolean) => {
    const node = await nodeOfRole(isPrimary);
    const pid = postmaster(node);
    await killed(`patroni-${node}`);
    signal(pid, 'SIGKILL');
    return async () => starts.patroni(node);
  };
  const killRedis = async (isPrimary: boolean) => {
    const node = nodeOfRedis(isPrimary);
    await killed(`redis-${node}`);
    return async () => starts.redis(node);
  };
  /** Of each shard in turn, so that all are killed. */
  const killOfCluster = async (isPrimary: boolean) => {
    const chosen: ClusterNode[] = [];
    for (const node of clusterNodes) if ((await isMaster(node)) === isPrimary) chosen.push(node);
    turn += 1;
    const node = clusterNodes.find((each) => each === chosen[turn % chosen.length]);
    if (!node) throw new Error('The Redis Cluster has no such node.');
    await killed(node.name);
    return async () => {
      const others = clusterNodes.filter((each) => each !== node);
      // It keeps nothing: as a primary that nobody has replaced, it would come back empty.
      if (isPrimary) await mustBecome('A primary', () => hasMasters(others));
      starts.clusterNode(node.name);
    };
  };
  let turn = 0;
  const next = <T>(names: readonly [T, ...T[]]): T => {
    turn += 1;
    return names[turn % names.length] ?? names[0];
  };
  const simple = (name: 'etcd' | 'haproxy' | 'pgbouncer', title: string): Part => ({
    name: title,
    isReplaced: false,
    kill: async () => {
      await killed(name);
      return async () => starts[name]();
    },
  });
  const redisParts: readonly Part[] = [
    { name: 'Redis, the primary', isReplaced: true, kill: () => killRedis(true) },
    { name: 'Redis, the replica', isReplaced: true, kill: () => killRedis(false) },
    {
      name: 'a Sentinel',
      isReplaced: false,
      kill: async () => {
        const name = next(SENTINELS);
        await killed(name);
        return async () => starts.sentinel(name);
      },
    },
  ];
  const clusterParts: readonly Part[] = [
    { name: 'Redis Cluster, a primary', isReplaced: true, kill: () => killOfCluster(true) },
    { name: 'Redis Cluster, a replica', isReplaced: true, kill: () => killOfCluster(false) },
  ];
  const others: readonly Part[] = [
    {
      name: 'PostgreSQL, the primary',
      isReplaced: true,
      kill: async () => {
        signal(postmaster(await nodeOfRole(true)), 'SIGKILL');
        return async () => {}; // Patroni starts it
      },
    },
    { name: 'PostgreSQL with Patroni, the primary', isReplaced: true, kill: () => killMachine(true) },
    { name: 'PostgreSQL with Patroni, the standby', isReplaced: true, kill: () => killMachine(false) },
    simple('etcd', 'etcd'),
    simple('pgbouncer', 'PgBouncer'),
    {
      name: 'a process of the service',
      isReplaced: false,
      kill: async () => {
        const name = next(SERVERS);
        await servers.get(name)?.kill();
        return () => startOne(name);
      },
    },
    simple('haproxy', 'HAProxy'),
  ];
  const isWhole = async () => {
    const standby = await fetch(
      `http://127.0.0.1:${portOf(`patroni-${await nodeOfRole(false)}`)}/synchronous`,
    );
    const isRedisWhole =
      kind === 'cluster'
        ? (await hasMasters(clusterNodes)) && (await areAll(clusterNodes, hasPartner))
        : (await ask(redisAt(nodeOfRedis(true)), 'INFO replication')).includes('state=online');
    const health = await Promise.all(SERVERS.map((name) => fetch(`http://127.0.0.1:${portOf(name)}/health`)));
    const entry = await fetch(`http://127.0.0.1:${portOf('haproxy')}/health`);
    return standby.ok && isRedisWhole && [...health, entry].every(({ ok }) => ok);
  };
  const list = kind === 'cluster' ? clusterParts : [...others, ...redisParts];
  return { port: portOf('haproxy'), list, isWhole: () => isWhole().catch(() => false) };
}

const areAll = async <T>(things: readonly T[], isTrue: (thing: T) => Promise<boolean>) =>
  (await Promise.all(things.map(isTrue))).every(Boolean);

const replicationOf = (node: ClusterNode) => ask(node, 'INFO replication').catch(() => '');
const answers = async (node: ClusterNode) => (await replicationOf(node)).includes('role:');
const isMaster = async (node: ClusterNode) => (await replicationOf(node)).includes('role:master');
const hasPartner = async (node: ClusterNode) =>
  (await isMaster(node)) ? (await replicationOf(node)).includes('state=online') : isLinked(node);

/** Tells whether each part of the keys has a primary among the nodes, by their own words. */
async function hasMasters(nodes: readonly ClusterNode[]): Promise<boolean> {
  const masters = await Promise.all(nodes.map(isMaster));
  return masters.filter(Boolean).length === MASTERS;
}

async function makeDatabase(place: configurations.Place): Promise<boolean> {
  const client = new pg.Client({
    connectionString: configurations.databaseUrl(place, 'haproxy-postgres', 'postgres'),
  });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('create database behest');
    return true;
  } catch (error) {
    return Object(error).code === '42P04'; // an attempt before made it, and lost its answer
  } finally {
    await client.end().catch(() => {});
  }
}

/** @returns undefined while Patroni does not answer, or its PostgreSQL does not run */
async function roleOf(port: number): Promise<string | undefined> {
  const answer = await fetch(`http://127.0.0.1:${port}/patroni`).catch(() => undefined);
  const { state, role } = Object(await answer?.json().catch(() => undefined));
  return state === 'running' ? role : undefined;
}

async function mustBecome(name: string, isTrue: () => Promise<boolean>): Promise<void> {
  if (!(await waitUntil(isTrue, { seconds: 60 }))) throw new Error(`${name} does not start.`);
}
