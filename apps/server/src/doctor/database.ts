import { sql } from 'kysely';
import { isLoopback } from '../config/addresses.ts';
import type { DatabaseSettings } from '../config/database.ts';
import type { Executor } from '../platform/db/db.ts';
import { lookAtSchema, type SchemaLook } from '../platform/db/migrate.ts';
import { requireServer } from '../platform/db/open-database.ts';
import { type Check, failed, passed, reasonOf, warned } from './check.ts';

const [SKEW_WARNED, SKEW_FAILED] = [5, 60]; // seconds; tokens are refused 60 seconds apart

/** Whether the database answers, encrypts, and has the time of this machine. */
export async function databaseChecks(db: Executor, settings: DatabaseSettings): Promise<Check[]> {
  const began = Date.now();
  try {
    await requireServer(db);
    const asked = sql<{ version: string; now: Date }>`
      select current_setting('server_version') as version, clock_timestamp() as now`;
    const { rows } = await asked.execute(db);
    const half = (Date.now() - began) / 2;
    const { version = '', now = new Date() } = rows[0] ?? {};
    const skew = Math.round(Math.abs(began + half - now.getTime()) / 1_000);
    return [passed('database', `PostgreSQL ${version.split(' ')[0]}`), tlsCheck(settings), clockCheck(skew)];
  } catch (error) {
    return [failed('database', reasonOf(error), 'look at DATABASE_URL, and whether PostgreSQL runs there')];
  }
}

function tlsCheck({ ssl, connectionString }: DatabaseSettings): Check {
  const [, host = ''] = /^[^:]+:\/\/(?:[^/?#]*@)?(\[[^\]]*\]|[^:/?#]*)/.exec(connectionString) ?? [];
  const isHere = host === '' || isLoopback(host) || /[?&]host=(%2F|\/)/i.test(connectionString);
  if (!ssl && isHere) return passed('database-tls', 'not encrypted, on this machine');
  if (!ssl) {
    const fix = 'add sslmode=verify-full to DATABASE_URL';
    return warned('database-tls', 'the connection is not encrypted', fix);
  }
  return ssl.rejectUnauthorized === false
    ? warned(
        'database-tls',
        'encrypted, and the certificate is not checked',
        'use sslmode=verify-full, with sslrootcert where the authority is your own',
      )
    : passed('database-tls', 'encrypted, and the certificate is checked');
}

function clockCheck(skew: number): Check {
  const detail = `${skew} s apart`;
  if (skew <= SKEW_WARNED) return passed('database-clock', detail);
  const fix = 'set the clocks of both machines, for example with NTP';
  return (skew <= SKEW_FAILED ? warned : failed)('database-clock', detail, fix);
}

/** Whether the next start would change the schema, or refuse it. Reads alone. */
export async function schemaCheck(settings: DatabaseSettings): Promise<{ check: Check; isReady: boolean }> {
  try {
    const look = await lookAtSchema(settings);
    return { check: toldOf(look), isReady: look.pending.length === 0 && look.fault === undefined };
  } catch (error) {
    const fix = 'look at MIGRATION_DATABASE_URL, or DATABASE_URL where that is not set';
    return { check: failed('migrations', reasonOf(error), fix), isReady: false };
  }
}

function toldOf({ pending, applied, hasPendingFunctions, fault }: SchemaLook): Check {
  if (fault !== undefined)
    return failed('migrations', fault, 'start the release that made this database, or a later one');
  if (pending.length > 0) {
    const names = pending.length > 3 ? `${pending[0]} to ${pending.at(-1)}` : pending.join(', ');
    return warned(
      'migrations',
      `${pending.length} to apply: ${names}`,
      'the next start applies them; make a backup first',
    );
  }
  return hasPendingFunctions
    ? warned('migrations', `${applied} applied; functions differ`, 'the next start replaces the functions')
    : passed('migrations', `${applied} applied, and nothing to apply`);
}
