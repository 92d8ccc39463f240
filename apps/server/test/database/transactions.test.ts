import { sql } from 'kysely';
import { beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { commitNotices, listenToCommits, tellAfterCommit } from '../../src/platform/db/commit-effects.ts';
import {
  afterCommit,
  type Executor,
  inTransaction,
  openTransaction,
  repeating,
} from '../../src/platform/db/db.ts';
import { hotCall, newRecords } from '../../src/platform/db/hot-writes.ts';
import { openDatabase } from '../../src/platform/db/open-database.ts';
import { afterStatements } from '../app/after-statements.ts';
import { type Service, startApp } from '../app/start-app.ts';

let service: Service;
let db: Executor;
/** The steps that were done, in order. */
let done: string[];
beforeAll(async () => {
  service = await startApp({ isShared: true });
  db = service.db;
  return service.stop;
});
beforeEach(() => {
  done = [];
});

const note = (what: string) => () => void done.push(what);

async function rename(on: Executor, id: string, name: string) {
  await on.updateTable('developers').set({ name }).where('id', '=', id).execute();
}

/** The name that everybody outside the transaction sees. */
async function nameOf(id: string) {
  const row = await db.selectFrom('developers').select('name').where('id', '=', id).executeTakeFirstOrThrow();
  return row.name;
}

describe('work for after the commit', () => {
  test('is done at once without a transaction', async () => {
    await afterCommit(db, note('told'));

    expect(done).toEqual(['told']);
  });

  test('is done when others see the writes, in its order, and before the caller goes on', async () => {
    const { developerId: id } = await service.asDeveloper();

    await inTransaction(db, async (tx) => {
      await rename(tx, id, 'New');
      await afterCommit(tx, async () => void done.push(await nameOf(id)));
      await afterCommit(tx, note('second'));
      done.push('written');
    });

    expect(done).toEqual(['written', 'New', 'second']);
  });

  test('is not done when the transaction is rolled back', async () => {
    const work = inTransaction(db, async (tx) => {
      await afterCommit(tx, note('told'));
      throw new Error('refused');
    });

    await expect(work).rejects.toThrow('refused');
    expect(done).toEqual([]);
  });

  test('is done once when the transaction lost a race and was repeated', async () => {
    let attempts = 0;

    await inTransaction(db, async (tx) => {
      attempts += 1;
      await afterCommit(tx, note('told'));
      if (attempts < 3) throw Object.assign(new Error('deadlock'), { code: '40P01' });
    });

    expect({ attempts, done }).toEqual({ attempts: 3, done: ['told'] });
  });
});

describe('an open transaction', () => {
  test('commits its parts, and then does the work for after the commit', async () => {
    const { developerId: id } = await service.asDeveloper();
    const { tx, commit } = await openTransaction(db);

    await inTransaction(tx, async (inner) => {
      await rename(inner, id, 'New');
      await afterCommit(inner, note('told'));
    });
    const before = { name: await nameOf(id), done: [...done] };
    await commit();

    expect(before).toEqual({ name: 'Acme', done: [] });
    expect({ name: await nameOf(id), done }).toEqual({ name: 'New', done: ['told'] });
  });

  test('undoes a part that fails, with its work for after the commit, and keeps the others', async () => {
    const { developerId: kept } = await service.asDeveloper();
    const { developerId: undone } = await service.asDeveloper();
    const { tx, commit } = await openTransaction(db);
    const failing = inTransaction(tx, async (outer) => {
      await rename(outer, undone, 'New');
      await inTransaction(outer, (inner) => rename(inner, undone, 'Newer'));
      await afterCommit(outer, note('undone'));
      await sql`select no_such_column`.execute(outer);
    });

    await expect(failing).rejects.toThrow('no_such_column');
    await inTransaction(tx, async (inner) => {
      await rename(inner, kept, 'New');
      await afterCommit(inner, note('kept'));
    });
    await commit();

    expect([await nameOf(kept), await nameOf(undone)]).toEqual(['New', 'Acme']);
    expect(done).toEqual(['kept']);
  });

  test('does nothing when it is rolled back', async () => {
    const { developerId: id } = await service.asDeveloper();
    const { tx, rollback } = await openTransaction(db);

    await inTransaction(tx, async (inner) => {
      await rename(inner, id, 'New');
      await afterCommit(inner, note('told'));
    });
    await rollback();

    expect({ name: await nameOf(id), done }).toEqual({ name: 'Acme', done: [] });
  });

  test('is repeated as a whole, because Postgres ends the whole of it', async () => {
    const { tx, rollback } = await openTransaction(db);
    let attempts = 0;
    const lose = async () => {
      attempts += 1;
      throw Object.assign(new Error('deadlock'), { code: '40P01' });
    };

    await expect(inTransaction(tx, lose)).rejects.toThrow('deadlock');
    await expect(repeating(tx, lose)).rejects.toThrow('deadlock');
    await rollback();

    expect(attempts).toBe(2);
  });
});

describe('the effect of a write', () => {
  const effect = { tallies: [{ counter: 'auditEntries', label: 'service' }], eventsOf: 'dev_a' } as const;
  const ownDatabase = () => {
    const own = openDatabase({ connectionString: service.databaseUrl }, 1);
    onTestFinished(() => own.destroy());
    listenToCommits(own, ({ eventsOf }) => void done.push(`told of ${eventsOf}`));
    return own;
  };

  test('is reported at once for a write by itself, and after the commit for a write in a transaction', async () => {
    const own = ownDatabase();

    await tellAfterCommit(own, effect);
    await inTransaction(own.withPlugin(afterStatements('nothing', async () => {})), async (tx) => {
      await tellAfterCommit(tx, effect);
      done.push('written');
    });

    expect(done).toEqual(['told of dev_a', 'written', 'told of dev_a']);
  });

  test('is not reported for a write that was undone, alone or with the whole transaction', async () => {
    const own = ownDatabase();
    const fail = async (tx: Executor) => {
      await tellAfterCommit(tx, effect);
      throw new Error('undone');
    };

    await inTransaction(own, async (tx) => {
      await expect(inTransaction(tx, fail)).rejects.toThrow('undone');
    });
    await expect(inTransaction(own, fail)).rejects.toThrow('undone');

    expect(done).toEqual([]);
  });

  test('cannot be lost in a transaction that was opened in another way', async () => {
    const work = db.transaction().execute((tx) => tellAfterCommit(tx, effect));

    await expect(work).rejects.toThrow('Open transactions with inTransaction or openTransaction.');
  });

  test('is told once of a hot write that lost a race and was done again', async () => {
    const own = ownDatabase();
    // A sequence keeps count of the attempts that were undone.
    await sql`create sequence attempts`.execute(own);
    await sql`create function lose_once(text, timestamptz, jsonb) returns text language plpgsql as
      $$ begin if nextval('attempts') = 1 then raise 'lost' using errcode = '40P01'; end if; return null; end $$`.execute(
      own,
    );

    const write = { tenant: { developerId: 'dev_a' }, at: new Date(0), fact: hotCall('lose_once', {}) };
    const refusal = await newRecords('[]', { ...effect, tallies: [effect.tallies] }).writeUnlessRefused(
      own,
      write,
    );

    expect(refusal).toBeNull();
    const { rows } = await sql<{ attempts: string }>`select last_value as attempts from attempts`.execute(
      own,
    );
    expect(rows).toEqual([{ attempts: '2' }]);
    expect(done).toEqual(['told of dev_a']);
  });

  test('is not told of records whose statement failed', async () => {
    const own = ownDatabase();

    const work = newRecords('[]', { ...effect, tallies: [effect.tallies] }).write(
      own,
      () => sql`select 1 / 0`,
    );

    await expect(work).rejects.toThrow('division by zero');
    expect(done).toEqual([]);
  });

  test('reaches who listens for the events of a developer, where there are any', async () => {
    const notices = commitNotices();
    notices.listen((developerIds) => void done.push(...developerIds));
    const own = openDatabase({ connectionString: service.databaseUrl }, 1, undefined, { notices });
    onTestFinished(() => own.destroy());

    await tellAfterCommit(own, effect);
    await tellAfterCommit(own, { tallies: [] });

    expect(done).toEqual(['dev_a']);
  });
});
