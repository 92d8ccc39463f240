import { globSync } from 'node:fs';
import { basename } from 'node:path';
import { breachesIn } from './citus/statements.ts';
import { spreadOf, statementsInSource, statementsOfFunctions } from './citus/statements-of.ts';

/** Statements over all developers that Citus does not take. `docs/performance.md` says what they are for. */
const KNOWN: readonly string[] = [
  "answers.ts: rows are locked on more than one shard of selectFrom('idempotentAnswers')",
  'events.repo.ts: a correlated subquery has a limit on more than one shard of o',
  'events.repo.ts: a recursive query reads on more than one shard of outbox_events',
  "deliveries.repo.ts: rows are locked on more than one shard of selectFrom('webhookDeliveries')",
];

const PLANTED = 'apps/server/test/planted/citus';

/** The breaches in the planted files. A run that misses one of them proves nothing about the rest. */
const EXPECTED: readonly string[] = [
  'lock_things.sql: a correlated subquery has a limit on more than one shard of t',
  'lock_things.sql: a sample is taken on more than one shard of things',
  'lock_things.sql: an update calls random, which is volatile',
  'lock_things.sql: an update changes the distribution column',
  'lock_things.sql: grouping sets are made on more than one shard of things',
  'lock_things.sql: rows are locked on more than one shard of p',
  'lock_things.sql: rows are locked on more than one shard of t',
  'things.repo.ts: rows are locked on more than one shard of parts',
  "things.repo.ts: rows are locked on more than one shard of selectFrom('agents')",
  'tree_of.sql: a recursive query reads on more than one shard of child',
];

interface Looked {
  readonly breaches: readonly string[];
  readonly statements: number;
}

function look(migrations: string, sources: string): Looked {
  const { spread, enums } = spreadOf(migrations, sources);
  const breaches: string[] = [];
  let statements = 0;
  const hold = (path: string, sql: string) => {
    statements += 1;
    for (const breach of breachesIn(sql, spread)) breaches.push(`${basename(path)}: ${breach}`);
  };
  for (const path of globSync(`${sources}/**/sql/*.sql`).sort()) {
    for (const sql of statementsOfFunctions(path, enums)) hold(path, sql);
  }
  for (const path of globSync(`${sources}/**/!(*.test|*.gen).ts`).sort()) {
    const { texts, openLocks } = statementsInSource(path);
    for (const text of texts) hold(path, text);
    statements += openLocks.length;
    for (const query of openLocks)
      breaches.push(`${basename(path)}: rows are locked on more than one shard of ${query}`);
  }
  return { breaches: [...new Set(breaches)].sort(), statements };
}

function differences(place: string, found: readonly string[], expected: readonly string[]): string[] {
  const missing = expected.filter((line) => !found.includes(line)).map((line) => `not noticed: ${line}`);
  const surplus = found.filter((line) => !expected.includes(line)).map((line) => `not expected: ${line}`);
  return [...missing, ...surplus].map((line) => `${place}: ${line}`);
}

if (import.meta.main) {
  const { breaches, statements } = look('apps/server/migrations', 'apps/server/src');
  const problems = [
    ...differences('apps/server/src', breaches, KNOWN),
    ...differences(PLANTED, look(`${PLANTED}/migrations`, PLANTED).breaches, EXPECTED),
  ];
  for (const problem of problems) process.stdout.write(`${problem}\n`);
  process.stdout.write(
    `${statements} statements, ${KNOWN.length} that a distributed database does not take\n`,
  );
  process.exitCode = problems.length > 0 ? 1 : 0;
}
