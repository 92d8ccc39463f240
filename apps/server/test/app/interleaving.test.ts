import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import type { Executor } from '../../src/platform/db/db.ts';
import { registerAgent } from './flow.ts';
import { interleaving, type Side } from './interleaving.ts';
import { CONNECTIONS } from './lent-pool.ts';
import { openConnections } from './open-connections.ts';
import { startApp } from './start-app.ts';

const { race } = interleaving();

const name = (db: Executor, id: string) =>
  db.selectFrom('agents').select('name').where('id', '=', id).executeTakeFirstOrThrow();
const rename = (db: Executor, id: string, to: string) =>
  db.updateTable('agents').set({ name: to }).where('id', '=', id).execute();

/** Adds a letter to an agent's name, as a service would that reads and then writes. */
async function addLetter({ service: { db } }: Side, { agentId }: { agentId: string }): Promise<undefined> {
  const before = await name(db, agentId);
  await rename(db, agentId, `${before.name}!`);
}

const prepare = (acme: Side['acme']) => registerAgent(acme);

describe('a race', () => {
  test('shows a write that is lost between read and write', async () => {
    await expect(race({ prepare, one: addLetter, answers: ['done, done'] })).rejects.toThrow(
      /after SelectQuery agents|after Select agents/,
    );
  });

  test('is content with the same write under a lock', async () => {
    await race({
      prepare,
      one: async ({ service: { db } }, { agentId }) => {
        await db.transaction().execute(async (tx) => {
          await tx.selectFrom('agents').select('id').where('id', '=', agentId).forUpdate().execute();
          const before = await name(tx, agentId);
          await rename(tx, agentId, `${before.name}!`);
        });
        return undefined;
      },
      answers: ['done, done'],
    });
  });

  test('has to answer as its test says', async () => {
    await expect(race({ prepare, one: addLetter, answers: ['204, 204'] })).rejects.toThrow();
  });

  test('fails when its work has no step, because nothing was met', async () => {
    await expect(race({ prepare, one: async () => undefined, answers: ['done, done'] })).rejects.toThrow();
  });
});

test('the connections of a race are all open before it starts', async () => {
  const service = await startApp();

  await openConnections(service.db);

  const { rows } = await sql<{ open: number }>`select count(*)::integer as open from pg_stat_activity
    where datname = current_database() and backend_type = 'client backend'`.execute(service.db);
  expect(rows[0]?.open).toBe(CONNECTIONS);
});
