import { setImmediate } from 'node:timers/promises';
import { type CompiledQuery, RawNode } from 'kysely';
import pg from 'pg';
import { describe, expect, test, vi } from 'vitest';
import { createLanes } from './lanes.ts';

const look: CompiledQuery = {
  query: RawNode.createWithSql('look'),
  queryId: { queryId: 'look' },
  sql: 'look',
  parameters: [],
};

/** Connections that say one process id at their beginning, and another when they are asked. */
function lanesOver({ said, real }: { said: number; real: number }) {
  let most = 0;
  const connect = async () => {
    const client = Object.assign(new pg.Client(), { processID: said, release: vi.fn() });
    let underWay = 0;
    vi.spyOn(client, 'query').mockImplementation(async (query: unknown) => {
      if (typeof query === 'string') return { rows: [{ pid: real }] };
      underWay += 1;
      most = Math.max(most, underWay);
      await setImmediate();
      underWay -= 1;
      return { rows: [] };
    });
    return client;
  };
  const lanes = createLanes({ connect }, ({ sql }) => ({ text: sql }));
  const lookAll = () => Promise.all(Array.from({ length: 5 }, () => lanes.run(look)));
  return { lookAll, most: () => most };
}

describe('a connection', () => {
  test('to Postgres has several look-ups under way', async () => {
    const { lookAll, most } = lanesOver({ said: 7, real: 7 });

    expect(await lookAll()).toHaveLength(5);
    expect(most()).toBe(5);
  });

  test('to a pooler has one under way, from the first on', async () => {
    const { lookAll, most } = lanesOver({ said: 7, real: 8 });

    for (const _ of ['first', 'second']) expect(await lookAll()).toHaveLength(5);

    expect(most()).toBe(1);
  });
});
