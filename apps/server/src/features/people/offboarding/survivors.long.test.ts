import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { insertBranches } from '../../../../test/app/delegated.ts';
import { authorize, grantTo, registerAgent } from '../../../../test/app/flow.ts';
import { entriesOfAccount, readStatement, verdictOn } from '../../../../test/app/offboarded.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const PERSON = 'ada@acme.test';
/** A grant, a hundred below it, and 99 below each of those. */
const GRANTS = 1 + 100 + 9900;
const WRITERS = 64;
/** The aim is five. A machine that runs other work beside it is given more. */
const MOST_SECONDS = 20;

/** A tree of three levels. */
async function plant(service: Service, acme: Developer) {
  const root = await grantTo(acme, { principalId: PERSON });
  const { agentId } = await registerAgent(acme, 'Helper');
  const branches = await insertBranches(service, { parentId: root.grantId, agentId, count: 100 });
  for (const { grantId } of branches) {
    await insertBranches(service, { parentId: grantId, count: 99 });
  }
  return root;
}

/** Makes grants by every way until the writer is told to stop. @returns how many were made */
async function write(acme: Developer, root: Awaited<ReturnType<typeof plant>>, signal: AbortSignal) {
  let made = 0;
  while (!signal.aborted) {
    const { agentId } = root;
    const asked = await acme('POST', '/v1/authorize', {
      agentId,
      principalId: PERSON,
      scopes: ['calendar:read'],
    });
    const code = asked.statusCode === 201 ? asked.json().code : undefined;
    const answers = [
      code && (await acme('POST', '/v1/token', { code, agentId })),
      await acme('POST', '/v1/grants/delegate', {
        parentGrantToken: root.grantToken,
        subAgentId: agentId,
        scopes: ['calendar:read'],
      }),
      await acme('POST', '/v1/principal-sessions', { principalId: PERSON }),
    ];
    for (const answer of answers) {
      if (answer) expect(answer.statusCode, answer.body).toBeLessThan(500);
      if (answer?.statusCode === 201) made += 1;
    }
  }
  return made;
}

test.each(['principal', 'agent'] as const)(
  'nothing of a %s survives with ten thousand grants while 64 writers make more',
  async (kind) => {
    const env = { PLAN_FREE_ACTIVE_GRANTS: 'unlimited', PLAN_FREE_OPEN_REQUESTS: 'unlimited' };
    const service = await startApp({ env });
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    const root = await plant(service, acme);
    const over = new AbortController();
    const writers = Array.from({ length: WRITERS }, () => write(acme, root, over.signal));
    await expect
      .poll(() => countLiving(service, acme), { timeout: 60_000 })
      .toBeGreaterThan(GRANTS + WRITERS);

    const began = performance.now();
    const ended =
      kind === 'principal'
        ? await acme('POST', `/v1/principals/${PERSON}/offboard`, {})
        : await acme('DELETE', `/v1/agents/${root.agentId}`);
    const seconds = (performance.now() - began) / 1000;
    expect(ended.statusCode, ended.body).toBeLessThan(300);
    // The writers go on for a while, and get nothing.
    await authorize(acme, (await registerAgent(acme)).agentId, { principalId: 'grace' });
    over.abort();
    const made = (await Promise.all(writers)).reduce((sum, one) => sum + one, 0);

    const id = kind === 'principal' ? PERSON : root.agentId;
    const proof = (await acme('GET', `/v1/${kind}s/${id}/offboarding`)).json();
    const statement = await readStatement(service, proof.statement);
    const entries = await entriesOfAccount(acme);
    const checking = performance.now();
    const verdict = verdictOn(statement, entries);
    const checked = (performance.now() - checking) / 1000;
    process.stdout.write(
      `${kind}: ${statement.ended.grants} grants ended in ${seconds.toFixed(2)} s beside ${WRITERS} writers, which made ${made}; ` +
        `${await countLiving(service, acme)} survived; ${entries.length} entries checked in ${checked.toFixed(2)} s\n`,
    );
    expect(verdict).toMatchObject({ valid: true, fault: null });
    expect(Object.values(statement.remaining).every((count) => count === 0)).toBe(true);
    expect(statement.ended.grants).toBeGreaterThanOrEqual(GRANTS);
    expect(await countLiving(service, acme)).toBe(0);
    expect(seconds).toBeLessThan(MOST_SECONDS);
  },
  300_000,
);

async function countLiving({ db }: Service, { developerId }: Developer): Promise<number> {
  const { rows } = await sql<{ living: string }>`select count(*) as living from grants
    where developer_id = ${developerId} and status = 'active' and principal_id = ${PERSON}`.execute(db);
  return Number(rows[0]?.living);
}
