import pg from 'pg';
import { expect } from 'vitest';
import { newDatabase, type Service, startApp, type TestOptions } from './start-app.ts';

/** Secrets that a flow was given, by their names. */
type Secrets = Readonly<Record<string, string | undefined>>;

/**
 * Runs a flow on a database of its own. Neither the database nor the log nor any key or value of Redis may hold a secret
 * that the flow was given.
 * @returns the places that were looked through, so that a test can see that there was something to find
 */
export async function seekingSecrets(options: TestOptions, flow: (service: Service) => Promise<Secrets>) {
  const databaseUrl = await newDatabase();
  const put: string[] = [];
  const service = await startApp({
    ...options,
    databaseUrl,
    storeAs: (store) => ({
      ...store,
      put: (entries) => {
        put.push(JSON.stringify(entries));
        return store.put(entries);
      },
      charge: (bills) => {
        put.push(JSON.stringify(bills));
        return store.charge(bills);
      },
      takeSlot: (slot) => {
        put.push(JSON.stringify(slot));
        return store.takeSlot(slot);
      },
    }),
  });
  const written: string[] = [];
  const write = process.stdout.write.bind(process.stdout);
  process.stdout.write = (text: string | Uint8Array) => Boolean(written.push(String(text)));

  const secrets = await flow(service).finally(() => {
    process.stdout.write = write;
  });

  const kept = {
    database: await everythingIn(databaseUrl),
    log: [...service.logLines, ...written].join(''),
    redis: put,
  };
  for (const [name, secret] of Object.entries(secrets)) {
    expect([name, secret]).toEqual([name, expect.stringMatching(/^[\x21-\x7e]{40,}$/)]);
    const tail = String(secret).slice(-30); // the secret part, whatever it begins with
    for (const [where, text] of Object.entries({ ...kept, redis: put.join() })) {
      expect(text.includes(tail), `${name} in ${where}`).toBe(false);
    }
  }
  return { kept, printed: service.logLines.length };
}

/** Each value of each column of each table, as text; bytes both as they are and as the two usual texts of them. */
export async function everythingIn(databaseUrl: string): Promise<string> {
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  const tables = await client.query("select tablename from pg_tables where schemaname = 'public'");
  const seen: string[] = [];
  for (const { tablename } of tables.rows) {
    const { rows } = await client.query(`select * from ${client.escapeIdentifier(tablename)}`);
    for (const value of rows.flatMap((row) => Object.values(row))) {
      seen.push(
        Buffer.isBuffer(value)
          ? ['hex', 'base64', 'base64url', 'utf8'].map((as) => value.toString(as as 'hex')).join(' ')
          : typeof value === 'object'
            ? JSON.stringify(value)
            : String(value),
      );
    }
  }
  await client.end();
  return seen.join('\n');
}
