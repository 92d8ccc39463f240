import { spawnSync } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isSecret } from '../../apps/server/src/config/setting.ts';
import { allSettings, loadConfig } from '../../apps/server/src/config.ts';
import { documentsOf, ROOT, settingsOf, textOf } from './image.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const pem = generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
});
/** Values in place of the files that the operator makes. */
const secrets: Environment = {
  DATABASE_URL: 'postgres://postgres.example.com/behest?sslmode=verify-full',
  REDIS_URL: 'rediss://redis.example.com',
  RSA_PRIVATE_KEY: String(pem),
  VAULT_ENCRYPTION_KEY: '0'.repeat(64),
};

const unit = textOf('deploy/systemd/behest.service');
const chart = Object(documentsOf('deploy/helm/behest/values.yaml')[0]);
const fromUnit = Object.fromEntries(
  [...unit.matchAll(/^Environment=(\w+)=(.*)$/gm)].map(([, name, value]) => [name, value]),
);
const environments: readonly [string, Environment][] = [
  ['compose.yaml', Object(documentsOf('deploy/compose.yaml')[0]).services.behest.environment],
  ['the systemd unit', { ...settingsOf('deploy/systemd/behest.env'), ...fromUnit }],
  [
    'the chart',
    {
      NODE_ENV: 'production',
      ...chart.settings,
      ...Object.fromEntries(
        Object.entries(chart.secrets.keys).map(([name, key]) => [
          `${name}_FILE`,
          `/etc/behest/secrets/${key}`,
        ]),
      ),
    },
  ],
];
const dockerfile = textOf('deploy/Dockerfile');

describe.each(environments)('the settings of %s', (_, environment) => {
  const names = Object.keys(environment);

  test('are known to the service', () => {
    const isKnown = (name: string) => name in allSettings || name === 'MALLOC_ARENA_MAX'; // the C library's
    const isFile = (name: string) =>
      name.endsWith('_FILE') && isSecret(name.slice(0, -5)) && isKnown(name.slice(0, -5));

    expect(names.length).toBeGreaterThan(5);
    expect(names.filter((name) => !isKnown(name) && !isFile(name))).toEqual([]);
  });

  test('hold no secret', () => {
    expect(names.filter((name) => isSecret(name))).toEqual([]);
  });

  test('start the service in production', () => {
    const read = names.map((name) => {
      const secret = name.replace(/_FILE$/, '');
      return secret === name ? [name, environment[name]] : [secret, secrets[secret]];
    });

    const { isProduction, http } = loadConfig(Object.fromEntries(read));

    expect([isProduction, http.shutdownTimeoutSeconds, http.port]).toEqual([true, 25, 3001]);
  });
});

test('image, container and service agree on the port', () => {
  const { http } = loadConfig({
    ...secrets,
    NODE_ENV: 'production',
    PUBLIC_BASE_URL: 'https://auth.example.com',
  });

  expect(dockerfile).toMatch(new RegExp(`^EXPOSE ${http.port}$`, 'm'));
  expect(textOf('deploy/helm/behest/templates/deployment.yaml')).toContain(`containerPort: ${http.port} `);
  expect(dockerfile).toContain(`process.env.PORT || ${http.port}`);
});

const UNIT = 'deploy/systemd/behest.service';
const lines = textOf(UNIT).split('\n');
const all = (key: string) =>
  lines.filter((line) => line.startsWith(`${key}=`)).map((line) => line.slice(key.length + 1));
const hasAnalyze = spawnSync('systemd-analyze', ['--version']).status === 0;

describe('the systemd unit', () => {
  test('has assignments, sections and comments, and nothing else', () => {
    const other = lines.filter((line) => !/^(#.*|\[(Unit|Service|Install)\]|[A-Z][A-Za-z]+=.*|)$/.test(line));

    expect(other).toEqual([]);
  });

  test.runIf(hasAnalyze)('has words that systemd knows, and a low exposure by its measure', () => {
    const run = (...flags: string[]) =>
      spawnSync('systemd-analyze', [...flags, join(ROOT, UNIT)], { encoding: 'utf8' });

    // systemd-analyze also looks for the program, which need not be at Linux's usual path on this machine.
    const said = run('verify')
      .stderr.split('\n')
      .filter((line) => line.includes('behest') && !line.includes('/usr/bin/node'));
    expect(said).toEqual([]);
    // The exposure is out of 100; a usual service has 96.
    expect(run('security', '--offline=true', '--threshold=20')).toMatchObject({ status: 0 });
    expect(run('security', '--offline=true', '--threshold=5').status).toBe(1);
  });

  test('keeps the options that confine the service', () => {
    const held = [
      'DynamicUser',
      'NoNewPrivileges',
      'ProtectHome',
      'PrivateTmp',
      'PrivateDevices',
      'RestrictNamespaces',
    ];

    expect(held.map((key) => all(key))).toEqual(held.map(() => ['yes']));
    expect([all('ProtectSystem'), all('CapabilityBoundingSet')]).toEqual([['strict'], ['']]);
    expect(all('MemoryDenyWriteExecute')).toEqual([]); // the engine would not start
  });

  test('passes each secret that a setting names, and gives the service enough time to end', () => {
    const environment: Record<string, string> = Object.fromEntries(
      all('Environment').map((pair) => pair.split('=')),
    );
    const named = Object.values(environment).filter((value) => value.startsWith('%d/'));

    expect(named.length).toBeGreaterThan(3);
    expect(all('LoadCredential').map((pair) => `%d/${pair.split(':')[0]}`)).toEqual(named);
    expect(Number(all('TimeoutStopSec')[0])).toBeGreaterThan(Number(environment.SHUTDOWN_TIMEOUT_SECONDS));
    expect(all('Restart')).toEqual(['on-failure']);
    expect(settingsOf('deploy/systemd/behest.env')).toMatchObject({ HOST: '127.0.0.1' });
  });
});
