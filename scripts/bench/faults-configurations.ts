import { join } from 'node:path';

/** The place of all parts: a folder, a password, and ports of loopback by the name of their part. */
export interface Place {
  readonly folder: string;
  readonly password: string;
  readonly portOf: (name: string) => number;
  /** The folder of PostgreSQL's programs. */
  readonly programs: string;
}

const HERE = '127.0.0.1';

export const databaseUrl = ({ password, portOf }: Place, way: string, database: string) =>
  `postgres://behest:${password}@${HERE}:${portOf(way)}/${database}`;

export function etcd({ folder, portOf }: Place): string[] {
  const [clients, peers] = [`http://${HERE}:${portOf('etcd')}`, `http://${HERE}:${portOf('etcd-peer')}`];
  return [
    ...['--name', 'one', '--data-dir', join(folder, 'etcd'), '--initial-cluster', `one=${peers}`],
    ...['--listen-client-urls', clients, '--advertise-client-urls', clients],
    ...['--listen-peer-urls', peers, '--initial-advertise-peer-urls', peers],
  ];
}

/** Seconds. The standby of a machine that is gone waits for `ttl`. */
const PATRONI = { ttl: 20, loop_wait: 2, retry_timeout: 5 };

/** JSON is YAML. */
export function patroni({ folder, password, portOf, programs }: Place, node: string): string {
  const login = { username: 'behest', password };
  const [rest, postgres] = [`${HERE}:${portOf(`patroni-${node}`)}`, `${HERE}:${portOf(`postgres-${node}`)}`];
  return JSON.stringify({
    scope: 'behest',
    name: node,
    restapi: { listen: rest, connect_address: rest },
    etcd3: { hosts: [`${HERE}:${portOf('etcd')}`] },
    bootstrap: {
      dcs: {
        ...PATRONI,
        synchronous_mode: true,
        failsafe_mode: true,
        primary_start_timeout: 0, // a standby takes over at once when PostgreSQL alone is gone
        postgresql: { use_pg_rewind: true, parameters: { max_connections: 100, wal_keep_size: '256MB' } },
      },
      initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
    },
    postgresql: {
      listen: postgres,
      connect_address: postgres,
      data_dir: join(folder, node, 'data'),
      bin_dir: programs,
      pgpass: join(folder, node, 'pgpass'),
      authentication: { superuser: login, replication: login, rewind: login },
      pg_hba: [`host all all ${HERE}/32 scram-sha-256`, `host replication all ${HERE}/32 scram-sha-256`],
      parameters: { unix_socket_directories: '' },
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
    watchdog: { mode: 'off' },
  });
}

export function pgbouncer({ folder, portOf }: Place): string {
  return [
    '[databases]',
    `* = host=${HERE} port=${portOf('haproxy-postgres')}`,
    '[pgbouncer]',
    `listen_addr = ${HERE}`,
    `listen_port = ${portOf('pgbouncer')}`,
    'unix_socket_dir =',
    'auth_type = scram-sha-256',
    `auth_file = ${join(folder, 'users.txt')}`,
    'pool_mode = transaction',
    'default_pool_size = 20',
    'server_login_retry = 1', // 15 seconds by default, for which no write would go on
    'server_connect_timeout = 3',
    'query_wait_timeout = 10',
  ].join('\n');
}

/** What every node of Redis has: it keeps no data. */
const redisNode = ({ password, folder }: Place): string[] => [
  `bind ${HERE}`,
  `requirepass ${password}`,
  `masterauth ${password}`,
  'save ""',
  'appendonly no',
  'repl-diskless-sync-delay 0',
  `dir ${folder}`,
];

export function redis(place: Place, node: string, primary: number): string {
  const { portOf } = place;
  const port = portOf(`redis-${node}`);
  return [
    `port ${port}`,
    ...redisNode(place),
    `dbfilename ${node}.rdb`,
    ...(port === primary ? [] : [`replicaof ${HERE} ${primary}`]),
  ].join('\n');
}

/** A node that is away takes only its own keys along. It keeps no data, but its place in the cluster. */
export function clusterNode(place: Place, name: string): string {
  const { portOf } = place;
  return [
    `port ${portOf(name)}`,
    ...redisNode(place),
    'cluster-enabled yes',
    `cluster-port ${portOf(`${name}-bus`)}`,
    `cluster-config-file ${name}.nodes`,
    'cluster-node-timeout 2000',
    'cluster-require-full-coverage no',
  ].join('\n');
}

export function sentinel({ password, portOf, folder }: Place, name: string): string {
  return [
    `port ${portOf(name)}`,
    `bind ${HERE}`,
    `requirepass ${password}`,
    `dir ${folder}`,
    `sentinel monitor behest ${HERE} ${portOf('redis-a')} 2`,
    `sentinel auth-pass behest ${password}`,
    `sentinel sentinel-pass ${password}`,
    'sentinel down-after-milliseconds behest 1000',
    'sentinel failover-timeout behest 6000',
    '',
  ].join('\n');
}

/** A process that is not healthy gets requests only while none is: it still answers what needs no store that is away. */
export function haproxy({ password, portOf }: Place): string {
  const both = (kind: string, check: (node: string) => string) =>
    ['a', 'b'].map((node) => `  server ${node} ${HERE}:${portOf(`${kind}-${node}`)} ${check(node)}`);
  const servers = ['server-1', 'server-2'].map((name) => `  server ${name} ${HERE}:${portOf(name)} check`);
  return [
    'defaults',
    '  timeout connect 2s',
    '  timeout client 65s',
    '  timeout server 65s',
    '  timeout queue 5s',
    '  timeout check 3s',
    '  default-server inter 500ms fall 2 rise 1',
    'frontend service',
    '  mode http',
    `  bind ${HERE}:${portOf('haproxy')}`,
    '  use_backend healthy if { nbsrv(healthy) gt 0 }',
    '  default_backend alive',
    'backend healthy',
    '  mode http',
    '  option httpchk GET /health',
    '  option redispatch 1',
    ...servers,
    'backend alive',
    '  mode http',
    '  option httpchk GET /livez',
    '  option redispatch 1',
    ...servers,
    'listen postgres',
    '  mode tcp',
    '  timeout client 1h',
    '  timeout server 1h',
    `  bind ${HERE}:${portOf('haproxy-postgres')}`,
    '  option httpchk OPTIONS /primary',
    ...both('postgres', (node) => `check port ${portOf(`patroni-${node}`)} on-marked-down shutdown-sessions`),
    'listen redis',
    '  mode tcp',
    '  timeout client 1h',
    '  timeout server 1h',
    `  bind ${HERE}:${portOf('haproxy-redis')}`,
    '  option tcp-check',
    `  tcp-check send "AUTH ${password}\\r\\n"`,
    '  tcp-check expect string +OK',
    '  tcp-check send "INFO replication\\r\\n"',
    '  tcp-check expect string role:master',
    ...both('redis', () => 'check on-marked-down shutdown-sessions'),
    '',
  ].join('\n');
}
