import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../config.ts';
import { development, production, refusalsOf } from './test/environment.ts';

const folder = mkdtempSync(join(tmpdir(), 'behest-database-'));
afterAll(() => rmSync(folder, { recursive: true }));
const caPath = join(folder, 'ca.pem');
writeFileSync(caPath, 'a certificate');

const database = (url: string) => loadConfig({ ...development, DATABASE_URL: url }).database.app;

describe('the database in production', () => {
  const REFUSAL = 'DATABASE_URL must use sslmode=require or stricter in production';

  test.each([
    ...['', '?sslmode=disable', '?sslmode=allow', '?sslmode=prefer', '?sslmode=require&sslmode=disable'],
  ])('is refused off the machine with %s', (query) => {
    const url = `postgres://user:pw@db.example:5432/behest${query}`;

    expect(refusalsOf({ ...production, DATABASE_URL: url })).toEqual([REFUSAL]);
  });

  test.each(['?sslmode=require', '?sslmode=verify-ca', '?sslmode=verify-full', '?ssl=true'])(
    'is taken off the machine with %s',
    (query) => {
      expect(refusalsOf({ ...production, DATABASE_URL: `postgres://db.example/behest${query}` })).toEqual([]);
    },
  );

  test.each([
    'postgres://localhost/behest',
    'postgresql://user@127.0.0.2:5433/behest',
    'postgres://user:pw@[::1]:5432/behest',
    'postgres://user@/behest?host=/var/run/postgresql',
    'postgres://user@%2Fvar%2Frun%2Fpostgresql/behest',
    'postgres:///behest',
  ])('needs no TLS on the machine, as in %s', (url) => {
    expect(refusalsOf({ ...production, DATABASE_URL: url })).toEqual([]);
  });

  test.each([
    'postgres://localhost,db.example/behest',
    'postgres://db.example:5432,127.0.0.1:5433/behest',
    'postgres://localhost/behest?host=db.example',
    'postgres:///behest?host=/var/run/postgresql,db.example',
    'postgres://128.0.0.1/behest',
    'postgres://localhost.example/behest',
  ])('needs TLS if one host is off the machine, as in %s', (url) => {
    expect(refusalsOf({ ...production, DATABASE_URL: url })).toEqual([REFUSAL]);
  });
});

describe('a database URL', () => {
  test.each([
    ...['mysql://localhost/x', 'localhost/x', 'host=localhost', 'postgres:/x', 'postgres://a b/x'],
    ...['postgres://localhost:port/x', 'postgres://localhost/x#', 'postgres://user@local host/x'],
    ...['postgres://localhost/x?sslmode=on', 'postgres://localhost/x?ssl=1', 'postgres://[::1/x'],
  ])('is refused as %s', (url) => {
    expect(refusalsOf({ ...development, DATABASE_URL: url })).toEqual([
      'DATABASE_URL must be a PostgreSQL connection string',
    ]);
  });

  test('may name one host only', () => {
    for (const url of ['postgres://localhost,127.0.0.1/x', 'postgres://a:1,b:2/x?sslmode=require']) {
      expect(refusalsOf({ ...production, DATABASE_URL: url })).toEqual([
        'DATABASE_URL must name one host: the driver does not try several',
      ]);
    }
  });

  test('without a host means this machine, whatever the driver would find in its own variables', () => {
    expect(database('postgres://user@/x').connectionString).toBe('postgres://user@/x?host=localhost');
  });

  test('means the same to the driver as to an operator', () => {
    const client = (url: string) => new pg.Client({ ...database(url) });

    const remote = client('postgres://us%20er:p%40w@db.example:6543/x?sslmode=require&sslnegotiation=direct');
    expect(remote).toMatchObject({ host: 'db.example', port: 6543, user: 'us er', database: 'x' });
    expect(remote).toMatchObject({ password: 'p@w', ssl: { rejectUnauthorized: false } });
    const socket = client('postgres://us@/x?host=/var/run/postgresql&sslmode=require');
    expect(socket).toMatchObject({ host: '/var/run/postgresql', user: 'us', database: 'x', ssl: false });
    expect(client('postgres://us@%2Frun%2Fpostgresql/x')).toMatchObject({
      host: '/run/postgresql',
      database: 'x',
    });
    expect(client('postgres://us@/x')).toMatchObject({ host: 'localhost', database: 'x', ssl: false });
  });

  test('reaches the driver without its TLS parameters, and otherwise as it is', () => {
    const url = 'postgres://us%20er:p%40w@db.example:6543/x?application_name=a%20b&sslmode=require';

    expect(database(`${url}&sslnegotiation=direct&uselibpqcompat=true`).connectionString).toBe(
      'postgres://us%20er:p%40w@db.example:6543/x?application_name=a+b',
    );
  });
});

describe('sslmode', () => {
  const ssl = (query: string, host = 'db.example') => database(`postgres://${host}/x?${query}`).ssl;
  const checkServerIdentity = expect.any(Function);

  test.each(['', 'sslmode=disable', 'sslmode=allow', 'sslmode=prefer'])('does not encrypt as %s', (query) => {
    expect(ssl(query)).toBe(false);
  });

  test('require encrypts without looking at the certificate', () => {
    expect(ssl('sslmode=require')).toEqual({ rejectUnauthorized: false, checkServerIdentity });
  });

  test('require and verify-ca check the certificate against a CA that is given, and no host name', () => {
    for (const mode of ['require', 'verify-ca']) {
      const options = { rejectUnauthorized: true, ca: 'a certificate', checkServerIdentity };
      expect(ssl(`sslmode=${mode}&sslrootcert=${caPath}`)).toEqual(options);
    }
  });

  test('verify-full checks the host name too', () => {
    expect(ssl('sslmode=verify-full')).toEqual({ rejectUnauthorized: true });
    expect(ssl(`sslmode=verify-full&sslrootcert=${caPath}`)).toEqual({
      rejectUnauthorized: true,
      ca: 'a certificate',
    });
  });

  test('checks the host name when every public CA is trusted', () => {
    expect(ssl('sslmode=verify-ca')).toEqual({ rejectUnauthorized: true });
    expect(ssl('sslmode=require&sslrootcert=system')).toEqual({ rejectUnauthorized: true });
  });

  test('takes a client certificate', () => {
    expect(ssl(`sslmode=verify-full&sslcert=${caPath}&sslkey=${caPath}`)).toEqual({
      rejectUnauthorized: true,
      cert: 'a certificate',
      key: 'a certificate',
    });
  });

  test('means nothing on a Unix socket', () => {
    expect(ssl('host=/var/run/postgresql&sslmode=require', '')).toBe(false);
  });

  test('with a file that cannot be read is refused', () => {
    const DATABASE_URL = 'postgres://db.example/x?sslmode=verify-full&sslrootcert=/missing/ca.pem';

    expect(refusalsOf({ ...development, DATABASE_URL })).toEqual([
      'DATABASE_URL names a file in sslrootcert that cannot be read',
    ]);
  });
});
