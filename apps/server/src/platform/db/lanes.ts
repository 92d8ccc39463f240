import type { CompiledQuery, QueryResult } from 'kysely';
import type pg from 'pg';
import { queryDescribed } from './described.ts';
import { isPooled } from './pooled.ts';

/** Runs look-ups, each of which finds rows by their keys and waits for no lock. */
export interface Lanes {
  run<Row>(query: CompiledQuery): Promise<QueryResult<Row>>;
}

/** A connection on which several statements are under way. Postgres answers them in their order. */
interface Lane {
  readonly client: Promise<pg.PoolClient>;
  underWay: number;
  /** The end of the last statement, where each has to wait for the one before. */
  last: Promise<unknown>;
}

/**
 * The most statements under way on a connection. A connection that hangs gets no more than these, so it falls silent,
 * and a silent connection is ended (`limitSilence`).
 */
const MOST_UNDER_WAY = 32;

/**
 * Look-ups that come together share a connection of the pool: they leave in one write, and one process of Postgres
 * answers them without a switch to another. The pool gets the connection back as soon as nothing is under way on it.
 * Behind a pooler a connection has one statement under way: PgBouncer 1.18 mixed up the bytes of several.
 */
export function createLanes(
  pool: { connect(): Promise<pg.PoolClient> },
  queryOf: (query: CompiledQuery) => pg.QueryConfig,
): Lanes {
  const lanes = new Set<Lane>();
  let most = MOST_UNDER_WAY;

  const laneWithRoom = (): Lane => {
    for (const lane of lanes) if (lane.underWay < most) return lane;
    const lane = { client: pool.connect(), underWay: 0, last: Promise.resolve() };
    lanes.add(lane);
    return lane;
  };

  const send = (client: pg.PoolClient, query: CompiledQuery, isPooled: boolean) => {
    sendTogether(client);
    const config = queryOf(query);
    return isPooled ? client.query(config) : queryDescribed(client, config);
  };

  return {
    async run(query) {
      const lane = laneWithRoom();
      lane.underWay += 1;
      try {
        const client = await lane.client;
        const pooled = await isPooled(client);
        most = pooled ? 1 : MOST_UNDER_WAY;
        const answer = pooled ? lane.last.then(() => send(client, query, true)) : send(client, query, false);
        lane.last = answer.catch(() => {}); // its caller gets the failure
        const { rows } = await answer;
        return { rows };
      } finally {
        lane.underWay -= 1;
        if (lane.underWay === 0) {
          lanes.delete(lane);
          lane.client.then((client) => client.release()).catch(() => {}); // its statements have failed
        }
      }
    },
  };
}

const corked = new WeakSet<pg.PoolClient>();

/** Keeps what a connection has to send until the end of this turn of the event loop. */
function sendTogether(client: pg.PoolClient): void {
  if (corked.has(client)) return;
  const { stream } = client.connection;
  corked.add(client);
  stream.cork();
  process.nextTick(() => {
    corked.delete(client);
    stream.uncork();
  });
}
