import { expect, test } from 'vitest';
import { registerAgent } from '../../../../test/app/flow.ts';
import { tamper } from '../../../../test/app/many-entries.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';
import { execute } from '../../../../test/servers/postgres.ts';
import { longWork } from '../../../platform/long-work.ts';
import { watchChains } from './watch.ts';

/** Runs the job once. @returns the chains that it found broken */
async function watched(service: Service): Promise<object[]> {
  const found: object[] = [];
  let count = 0;
  const log = { error: (facts: object) => void found.push(facts) };
  const onBroken = () => {
    count += 1;
  };
  service.advance(300);
  await watchChains(
    { ...service, longWork: longWork(), comparisons: [], log, onBroken },
    new AbortController().signal,
    1,
  );
  expect(count).toBe(found.length);
  return found;
}

async function chains() {
  const service = await startApp();
  const [acme, other] = [await service.asDeveloper(), await service.asDeveloper()];
  for (const developer of [acme, other]) {
    for (let agent = 1; agent <= 3; agent += 1) await registerAgent(developer, `Agent ${agent}`);
  }
  return { service, acme, other };
}

const read = async ({ databaseUrl }: Service, developerId: string) => {
  const text = `select seq::int, began_at from audit_checks where developer_id = '${developerId}'`;
  return (await execute(databaseUrl, text)).rows[0];
};

test('a run checks what came since the last, and each chain from its beginning once a day', async () => {
  const { service, acme } = await chains();
  expect(await watched(service)).toEqual([]);
  expect(await read(service, acme.developerId)).toMatchObject({ seq: 4 });
  await registerAgent(acme);
  expect(await watched(service)).toEqual([]);
  expect(await read(service, acme.developerId)).toMatchObject({ seq: 5 });

  // An entry of long ago is not read again before the next round.
  const forged = `update audit_entries set action = 'forged' where seq = 2 and developer_id = $1`;
  await tamper(service.databaseUrl, forged, [acme.developerId]);
  expect(await watched(service)).toEqual([]);
  service.advance(86_400);

  expect(await watched(service)).toEqual([
    { developerId: acme.developerId, firstBrokenAt: expect.any(String), problem: 'hash_mismatch' },
  ]);
  expect(await watched(service)).toHaveLength(1); // until somebody repairs it
});

test('a chain whose past was written again, or whose end is gone, is found at the next entry', async () => {
  const { service, acme, other } = await chains();
  expect(await watched(service)).toEqual([]);
  const rewrite = `update audit_entries set hash = sha256('x') where seq = 4 and developer_id = $1`;
  await tamper(service.databaseUrl, rewrite, [acme.developerId]);
  await tamper(service.databaseUrl, 'delete from audit_entries where seq = 4 and developer_id = $1', [
    other.developerId,
  ]);
  for (const developer of [acme, other]) await registerAgent(developer);

  const problems = (await watched(service)).map((each) => Object(each));

  expect(problems.map(({ problem }) => problem)).toEqual(['rewritten', 'rewritten']);
  expect(problems.map(({ developerId }) => developerId).sort()).toEqual(
    [acme.developerId, other.developerId].sort(),
  );
});

test('two instances share the chains', async () => {
  const { service, acme, other } = await chains();
  service.advance(300);
  const looked: string[] = [];
  const log = { error: () => {} };
  const deps = { ...service, longWork: longWork(), comparisons: [], log, onBroken: () => {} };
  const run = async () => {
    const taken = await watchChains(deps, new AbortController().signal);
    looked.push(...taken);
  };

  await Promise.all([run(), run()]);

  expect(looked.filter((id) => id === acme.developerId || id === other.developerId).sort()).toEqual(
    [acme.developerId, other.developerId].sort(),
  );
});
