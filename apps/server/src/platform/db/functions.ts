import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { basename, extname, join } from 'node:path';
import type pg from 'pg';

/** An SQL function of a release. */
export interface SqlFunction {
  readonly name: string;
  /** Its file. */
  readonly path: string;
  /** Its statement with the comment above it. */
  readonly text: string;
  readonly sha256: string;
  /** Its parameters and its result, which `create or replace` cannot change. */
  readonly signature: string;
}

/** A function in the journal. */
export interface KnownFunction extends Omit<SqlFunction, 'path' | 'text'> {
  /** The release that brought its present text. */
  readonly release: string;
  /** The release that left it out. */
  readonly leftBy: string | null;
}

const END = /(?<=\$\$;\n)\n*/;
const HEAD = /^create or replace function (\w+)(\(.*?)\s+language /gms;

/** Reads the `*.sql` of a folder at any depth. @throws when a file has anything but functions, each ending in `$$;` */
export function readFunctions(folder: string): SqlFunction[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((file) => extname(file) === '.sql')
    .map((file) => join(folder, file))
    .sort()
    .flatMap((path) =>
      readFileSync(path, 'utf8')
        .split(END)
        .filter((text) => text !== '')
        .map((text) => functionIn(path, text)),
    );
}

function functionIn(path: string, text: string): SqlFunction {
  const [head, ...others] = text.matchAll(HEAD);
  const [, name, parameters] = head ?? [];
  if (!name || !parameters || others.length > 0)
    throw new Error(`${basename(path)} may hold only functions, from "create or replace function" to "$$;"`);
  const signature = parameters.replace(/\s+/g, ' ');
  return { name, path, text, signature, sha256: createHash('sha256').update(text).digest('hex') };
}

/** Whether a later release than this one has changed the functions of the database. */
export function standsSince(known: readonly KnownFunction[], release: string): boolean {
  return known.some((each) => isLater(each.release, release) || isLater(each.leftBy ?? release, release));
}

/** Whether the functions of the database differ from those of this release. */
export function isPending(
  functions: readonly SqlFunction[],
  known: readonly KnownFunction[],
  release: string,
): boolean {
  const { changed, gone, outlived } = difference(functions, known, release);
  return changed.length + gone.length + outlived.length > 0;
}

/**
 * Gives the database the functions of this release, in a transaction that holds the lock. A function that the
 * release left out stays for instances of the release before, which call it until they are replaced. The next
 * release drops it.
 */
export async function applyFunctions(
  client: pg.Client,
  functions: readonly SqlFunction[],
  known: readonly KnownFunction[],
  release: string,
): Promise<void> {
  const { changed, gone, outlived } = difference(functions, known, release);
  const before = new Map(known.map((each) => [each.name, each]));
  // A function may call another whose file is applied later: Postgres looks for it at the call.
  await client.query('set local check_function_bodies = off');
  for (const { name, text, sha256, signature } of changed) {
    const former = before.get(name);
    if (former && former.signature !== signature) await drop(client, name);
    await client.query(text);
    await client.query('delete from schema_functions where name = $1', [name]);
    await client.query(
      'insert into schema_functions (name, sha256, signature, release) values ($1, $2, $3, $4)',
      [name, sha256, signature, release],
    );
  }
  const leave = 'update schema_functions set left_by = $2 where name = $1';
  for (const { name } of gone) await client.query(leave, [name, release]);
  for (const { name } of outlived) {
    await drop(client, name);
    await client.query('delete from schema_functions where name = $1', [name]);
  }
}

function difference(
  functions: readonly SqlFunction[],
  known: readonly KnownFunction[],
  release: string,
): Readonly<{ changed: SqlFunction[]; gone: KnownFunction[]; outlived: KnownFunction[] }> {
  const current = new Map(known.filter(({ leftBy }) => leftBy === null).map((each) => [each.name, each]));
  const names = new Set(functions.map(({ name }) => name));
  const others = known.filter(({ name }) => !names.has(name));
  return {
    changed: functions.filter(({ name, sha256 }) => current.get(name)?.sha256 !== sha256),
    gone: others.filter(({ leftBy }) => leftBy === null),
    outlived: others.filter(({ leftBy }) => leftBy !== null && isLater(release, leftBy)),
  };
}

async function drop(client: pg.Client, name: string): Promise<void> {
  await client.query(['drop function if exists', client.escapeIdentifier(name)].join(' '));
}

/** Compares by numbers, so that 0.10 is later than 0.9. */
const isLater = (release: string, than: string): boolean =>
  release.localeCompare(than, 'en', { numeric: true }) > 0;
