import type { LimitEntry } from '@behest/protocol/limits-report';
import { grantTo, registerAgent } from './flow.ts';
import type { Developer } from './start-app.ts';

const SCOPES = ['tool:bank:write'];

const entry = (caps: object) => ({ type: 'urn:service:tools:v1', connector: 'bank', caps });

interface Level {
  readonly grantId: string;
  readonly grantToken: string;
}

/** A grant that was delegated four times, each time with lower caps, and with a budget at the first and the fourth grant. */
export async function fourDeep(acme: Developer, capOf: (depth: number) => number): Promise<readonly Level[]> {
  await acme('PATCH', '/v1/me', { maxDelegationDepth: 4 });
  const pay = { permission: 'write', cost_units: { transfer: 2 } };
  const tools = { pay, note: { permission: 'write' } };
  await acme('PUT', '/v1/manifests/bank', { $schema: 'x', connector: 'bank', version: '1', tools });
  const capsOf = (depth: number) => ({
    pay: { per_hour: capOf(depth), per_day: capOf(depth) + 1, per_case: capOf(depth) },
    cost_units: { per_day: 3 * capOf(depth) },
  });
  const asked = { scopes: SCOPES, authorizationDetails: [entry(capsOf(0))], expiresIn: '1d' };
  const levels: Level[] = [await grantTo(acme, asked)];
  for (let depth = 1; depth <= 4; depth += 1) {
    const { agentId } = await registerAgent(acme, `Helper ${depth}`);
    const part = {
      ...{ parentGrantToken: levels.at(-1)?.grantToken, subAgentId: agentId, scopes: SCOPES },
      authorizationDetails: [entry(capsOf(depth))],
    };
    const answer = await acme('POST', '/v1/grants/delegate', part);
    if (answer.statusCode !== 201) throw new Error(`delegate: ${answer.body}`);
    levels.push(answer.json());
  }
  for (const [depth, initialBudget] of [
    [0, '30'],
    [3, '12'],
  ] as const) {
    await acme('POST', '/v1/budget/allocate', { grantId: levels[depth]?.grantId, initialBudget });
  }
  return levels;
}

/** Calls of all grants at once, of which some are refunded, and debits of all of them. @returns the allowed calls */
export async function raceThrough(acme: Developer, levels: readonly Level[], count: number) {
  const AT_ONCE = 50;
  let allowed = 0;
  const one = async (index: number) => {
    const level = levels[index % levels.length];
    if (index % 10 === 9) {
      await acme('POST', '/v1/budget/debit', { grantId: level?.grantId, amount: '1.5' });
      return;
    }
    const callId = `call-${String(index).padStart(8, '0')}`;
    const call = {
      connector: 'bank',
      tool: 'pay',
      arguments: { index },
      caseId: `case-${index % 2}`,
      callId,
    };
    const answer = (await acme('POST', '/v1/enforce', { ...call, grantToken: level?.grantToken })).json();
    if (!answer.allowed) return;
    if (index % 3 === 0) {
      const refund = await acme('POST', `/v1/enforce/${callId}/refund`, {});
      if (refund.statusCode !== 204) throw new Error(`refund: ${refund.body}`);
    } else allowed += 1;
  };
  for (let from = 0; from < count; from += AT_ONCE) {
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, count - from) }, (_, at) => one(from + at)));
  }
  return allowed;
}

/** The entries of these grants, in order, as the log shows them. */
export async function entriesOfTree(acme: Developer, levels: readonly Level[]): Promise<LimitEntry[]> {
  const ids = new Set(levels.map(({ grantId }) => grantId));
  const entries: LimitEntry[] = [];
  let cursor: string | null = null;
  do {
    const page: { entries: LimitEntry[]; nextCursor: string | null } = (
      await acme('GET', `/v1/audit/entries?limit=500${cursor ? `&cursor=${cursor}` : ''}`)
    ).json();
    entries.push(...page.entries);
    cursor = page.nextCursor;
  } while (cursor);
  return entries.filter(({ grantId }) => ids.has(grantId ?? ''));
}
