import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { describe, expect, onTestFinished, test } from 'vitest';
import { startMailServer } from '../../apps/server/test/app/mail-server.ts';
import { newDatabase, startApp } from '../../apps/server/test/app/start-app.ts';
import { redisUrl } from '../../apps/server/test/servers/start-server.ts';
import { newMachine } from './program.ts';

const ROOT = join(import.meta.dirname, '../..');
const RSA_PRIVATE_KEY = generateKeyPairSync('rsa', {
  modulusLength: 2048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
}).privateKey;
const newVaultKey = () => randomBytes(32).toString('hex');

interface Check {
  readonly id: string;
  readonly result: string;
  readonly detail: string;
  readonly fix: string;
}

/** The settings of a service that could start. */
async function settings(more: Readonly<Record<string, string>> = {}) {
  return {
    ...{ PATH: process.env.PATH ?? '', NODE_ENV: 'development', RSA_PRIVATE_KEY },
    ...{ DATABASE_URL: await newDatabase(), REDIS_URL: redisUrl(), VAULT_ENCRYPTION_KEY: newVaultKey() },
    ...{ PUBLIC_BASE_URL: 'http://127.0.0.1:9', ...more },
  };
}

/** Runs `behest doctor --server` in an environment that is this and nothing else. */
async function look(env: Readonly<Record<string, string>>) {
  const { run } = newMachine(env);
  const { code, out, err } = await run(['doctor', '--server', '--checkout', ROOT, '--json']);
  const checks: readonly Check[] = JSON.parse(out);
  const resultOf = (id: string) =>
    checks.filter((check) => check.id === id).map(({ result, detail, fix }) => ({ result, detail, fix }));
  return { code, err, checks, resultOf };
}

async function queried(connectionString: string, statement: string) {
  const client = new pg.Client({ connectionString });
  await client.connect();
  const { rows } = await client.query(statement);
  await client.end();
  return rows;
}

describe('behest doctor --server', () => {
  test('finds nothing wrong with settings that a service could start with, and changes nothing', async () => {
    const mail = await startMailServer({ user: 'behest', password: 'secret-of-the-mail' });
    const env = await settings(mail.env);
    const changes = 'select sum(n_tup_ins + n_tup_upd + n_tup_del)::text as changes from pg_stat_user_tables';
    const rows = 'select count(*)::text as kept from schema_migrations';
    const before = await queried(env.DATABASE_URL, rows);

    const { code, err, checks, resultOf } = await look(env);

    expect(checks.filter(({ result }) => result === 'fail')).toEqual([]);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(checks.map(({ id, result }) => `${id} ${result}`)).toEqual([
      ...['settings ok', 'keys ok', 'database ok', 'database-tls ok', 'database-clock ok', 'migrations ok'],
      ...['vault-key ok', 'signing-keys skip', expect.stringMatching(/^redis (ok|warn)$/), 'mail ok'],
      ...['public-url skip', 'egress ok'],
    ]);
    expect(resultOf('migrations')[0]?.detail).toMatch(/^\d+ applied, and nothing to apply$/);
    expect(mail.lines.some((line) => /^(MAIL|RCPT|DATA)/.test(line))).toBe(false); // no mail was sent
    expect(await queried(env.DATABASE_URL, rows)).toEqual(before);
    expect(Number((await queried(env.DATABASE_URL, changes))[0].changes ?? 0)).toBe(0);
    expect(JSON.stringify(checks)).not.toMatch(/secret-of-the-mail|PRIVATE KEY/);
  });

  test('tells each setting that a start would refuse, by its name, and repeats no value', async () => {
    const { code, checks } = await look({
      ...{ PATH: process.env.PATH ?? '', NODE_ENV: 'production', AUTO_GENERATE_KEYS: 'true' },
      ...{ DATABASE_URL: 'not-an-address-with-a-secret', RATE_LIMIT_TYPO: '5' },
    });

    expect(code).toBe(1);
    const said = checks.map(({ detail }) => detail).join('\n');
    for (const name of ['AUTO_GENERATE_KEYS', 'DATABASE_URL', 'RATE_LIMIT_TYPO', 'REDIS_URL'])
      expect(said).toContain(name);
    expect(said).not.toContain('not-an-address');
    expect(checks.filter(({ result, fix }) => result === 'fail' && fix === '')).toEqual([]);
  });

  test('says that PostgreSQL, Redis and the mail server do not answer, without their passwords', async () => {
    const away = '127.0.0.1:9';
    const { code, checks, resultOf } = await look(
      await settings({
        ...{ DATABASE_URL: `postgres://u:hidden-word@${away}/x`, REDIS_URL: `redis://:hidden-word@${away}` },
        ...{ SMTP_URL: `smtp://u:hidden-word@${away}`, MAIL_FROM: 'behest@example.test' },
      }),
    );

    expect(code).toBe(1);
    for (const [id, setting, reason] of [
      ['database', 'DATABASE_URL', 'ECONNREFUSED'],
      ['redis', 'REDIS_URL', 'ECONNREFUSED'],
      ['mail', 'SMTP_URL', 'does not let the service in: ESOCKET'],
    ] as const)
      expect(resultOf(id), id).toEqual([
        {
          result: 'fail',
          detail: expect.stringContaining(reason),
          fix: expect.stringContaining(setting),
        },
      ]);
    expect(resultOf('migrations')).toEqual([
      { result: 'skip', detail: 'the database does not answer', fix: '' },
    ]);
    expect(JSON.stringify(checks)).not.toContain('hidden-word');
  });

  test('tells migrations that the next start applies, and a database of a later release, and applies nothing', async () => {
    const env = await settings();
    await queried(env.DATABASE_URL, "delete from schema_migrations where name > '010'");
    const kept = 'select name from schema_migrations order by name';
    const before = await queried(env.DATABASE_URL, kept);

    const behind = await look(env);
    await queried(
      env.DATABASE_URL,
      "insert into schema_migrations (name, sha256) values ('999_later.sql', 'x')",
    );
    const ahead = await look(env);

    expect(behind.code).toBe(0);
    expect(behind.resultOf('migrations')).toMatchObject([
      { result: 'warn', detail: expect.stringMatching(/^\d+ to apply: 010_/) },
    ]);
    expect(behind.resultOf('vault-key')).toMatchObject([{ result: 'skip' }]);
    expect(ahead.code).toBe(1);
    expect(ahead.resultOf('migrations')).toMatchObject([
      { result: 'fail', detail: 'database is newer than this release' },
    ]);
    expect(await queried(env.DATABASE_URL, kept)).toEqual([...before, { name: '999_later.sql' }]);
  });

  test('finds sealed values that no configured key opens', async () => {
    const env = await settings();
    const service = await startApp({
      databaseUrl: env.DATABASE_URL,
      env: { VAULT_ENCRYPTION_KEY: env.VAULT_ENCRYPTION_KEY },
    });
    const acme = await service.asDeveloper();
    await acme('POST', '/v1/webhooks', { url: 'https://hooks.acme.test/', events: ['*'] });

    const good = await look(env);
    const VAULT_ENCRYPTION_KEY = newVaultKey();
    const lost = await look({ ...env, VAULT_ENCRYPTION_KEY });
    const both = await look({
      ...{ ...env, VAULT_ENCRYPTION_KEY },
      VAULT_ENCRYPTION_KEYS_PREVIOUS: env.VAULT_ENCRYPTION_KEY,
    });

    expect([good.code, lost.code, both.code]).toEqual([0, 1, 0]);
    expect(lost.resultOf('vault-key')).toEqual([
      {
        ...{ result: 'fail', detail: 'the secrets of 1 webhooks open under no configured key: rotate them' },
        fix: expect.stringContaining('VAULT_ENCRYPTION_KEYS_PREVIOUS'),
      },
    ]);
  }, 120_000); // it starts the doctor three times, beside other work of the machine

  test('has a table for a person, and says where the server is looked for', async () => {
    const { run } = newMachine(await settings());

    const { out } = await run(['doctor', '--server', '--checkout', ROOT]);
    const nowhere = await run(['doctor', '--server', '--checkout', tmpdir()]);

    expect(out).toMatch(/^ID +RESULT +DETAIL +FIX\nsettings +ok/);
    expect(nowhere).toMatchObject({
      ...{
        code: 2,
        err: expect.stringMatching(/is no checkout of the service\.\ntry: behest doctor --help\n$/),
      },
    });
  });

  test('ends with 8, and says why, where the server cannot look', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'doctor-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const { run, folder: here } = newMachine({ PATH: process.env.PATH ?? '' });
    const server = join(here, 'node_modules/@behest/server');
    mkdirSync(join(server, 'dist'), { recursive: true });
    writeFileSync(join(server, 'package.json'), '{}');
    writeFileSync(join(server, 'dist/dev.js'), '');
    const without = await run(['doctor', '--server']);
    writeFileSync(join(server, 'doctor.mjs'), "process.stderr.write('it is broken\\n'); process.exit(3);");

    const broken = await run(['doctor', '--server']);

    expect(without).toMatchObject({ code: 2, err: expect.stringContaining('node apps/server/doctor.mjs') });
    expect(broken).toMatchObject({ code: 8, err: expect.stringContaining('it is broken') });
  });
});
