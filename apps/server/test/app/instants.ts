import type { LightMyRequestResponse } from 'fastify';
import { sql } from 'kysely';
import { afterAll, expect } from 'vitest';
import { refusalOf } from './flow.ts';
import type { Side } from './interleaving.ts';
import { type Developer, type Service, startApp, type TestOptions } from './start-app.ts';
import { stepping } from './steps.ts';

export type { Side } from './interleaving.ts';

interface Ending<Held> {
  /** The time of an end, as `table.column`. */
  readonly column: string;
  /** The end is so long ago, where a rule adds this time to it. */
  readonly agoSeconds?: number;
  /** The statement after which the end comes, when a second look at the time has to notice. */
  readonly after?: string;
  readonly prepare: (acme: Developer, service: Service) => Promise<Held>;
  readonly act: (side: Side, held: NoInfer<Held>) => Promise<string>;
  /** The words of `act` a millisecond before the end, and at the end. */
  readonly before: string;
  readonly ended: string;
}

/** Looks at both sides of an instant: the last millisecond before it, and the instant itself. */
export function instants(options: TestOptions = {}) {
  const steps = stepping();
  let started: Promise<Service> | undefined;
  afterAll(async () => (await started)?.stop());

  async function sayAt<Held>(ending: Ending<Held>, milliseconds: number): Promise<string> {
    started ??= startApp({ ...options, isShared: true, dbAs: steps.dbAs, storeAs: steps.storeAs });
    const service = await started;
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const held = await ending.prepare(acme, service);
    const ends = service.clock().getTime() - (ending.agoSeconds ?? 0) * 1000 + milliseconds;
    const { column, after, act } = ending;
    const set = () => setTime(service, acme, column, new Date(ends));
    const work = () => act({ service, acme }, held);
    if (after === undefined) {
      await set();
      return work();
    }
    let isMet = false;
    const { outcome } = await steps.walk(work, after, async () => {
      if (isMet) return;
      isMet = true;
      await set();
    });
    expect(isMet, `no statement ${after}`).toBe(true);
    return outcome;
  }

  return {
    async atTheEnd<Held>(ending: Ending<Held>): Promise<void> {
      const said = { before: await sayAt(ending, 1), ended: await sayAt(ending, 0) };
      expect(said).toEqual({ before: ending.before, ended: ending.ended });
    },
  };
}

/** Sets a time in all rows of a developer that have one. */
async function setTime({ db }: Service, { developerId }: Developer, column: string, at: Date): Promise<void> {
  const [table = '', name = ''] = column.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`).split('.');
  const changed = await sql`update ${sql.table(table)} set ${sql.ref(name)} = ${at}
    where developer_id = ${developerId}`.execute(db);
  expect(changed.numAffectedRows, column).toBeGreaterThan(0n);
}

/** The status of an answer, and why it refuses. */
export const whatItSays = (answer: LightMyRequestResponse): string =>
  answer.statusCode < 400 ? String(answer.statusCode) : refusalOf(answer);
