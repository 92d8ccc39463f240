import { readAmount, writeAmount } from '@behest/protocol/amounts';
import fc from 'fast-check';
import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { entriesOf, grantTo, refusalOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();

async function withBudget(acme: Developer, initialBudget: string) {
  const { grantId } = await grantTo(acme);
  const { statusCode } = await acme('POST', '/v1/budget/allocate', { grantId, initialBudget });
  expect(statusCode).toBe(201);
  return String(grantId);
}

const debit = (acme: Developer, grantId: string, amount: string | number) =>
  acme('POST', '/v1/budget/debit', { grantId, amount });
const balanceOf = async (acme: Developer, grantId: string) =>
  (await acme('GET', `/v1/budget/balance/${grantId}`)).json();

test('agents 44: the cost of one call of a model is debited, as a text and as a number', async () => {
  const { acme } = await sandbox();
  const grantId = await withBudget(acme, '1');

  const answers = [];
  for (const amount of ['0.000045', 0.001615, 4.5e-5]) answers.push(await debit(acme, grantId, amount));

  expect(answers.map((answer) => answer.json().remaining)).toEqual(['0.999955', '0.99834', '0.998295']);
  expect(await balanceOf(acme, grantId)).toMatchObject({
    ...{ initialBudget: '1.0000', remainingBudget: '0.998295', spent: '0.001705', status: 'active' },
  });
  const { transactions } = (await acme('GET', `/v1/budget/transactions/${grantId}`)).json();
  const books: { amount: string; balanceAfter: string }[] = transactions;
  expect(books.map(({ amount, balanceAfter }) => `${amount}, then ${balanceAfter}`).sort()).toEqual([
    '0.000045, then 0.998295',
    '0.000045, then 0.999955',
    '0.001615, then 0.99834',
  ]);
  const data = (await entriesOf(acme, 'budget.debited')).map(({ metadata }) => metadata);
  expect(data).toEqual(
    expect.arrayContaining([expect.objectContaining({ amount: '0.001615', remaining: '0.99834' })]),
  );
});

test('agents 44: a budget, its refusal and its refund keep all nine decimals', async () => {
  const { acme } = await sandbox();
  const grantId = await withBudget(acme, '0.000000003');

  const { transactionId } = (await debit(acme, grantId, '0.000000002')).json();
  const refused = await debit(acme, grantId, '0.000000002');
  const refunded = await acme('POST', '/v1/budget/refund', { transactionId, amount: '0.000000001' });

  expect(refusalOf(refused)).toBe('402 INSUFFICIENT_BUDGET');
  expect(refused.json().details).toMatchObject({ remaining: '0.000000001', requested: '0.000000002' });
  expect(refunded.json()).toMatchObject({ amount: '0.000000001', remaining: '0.000000002' });
  expect((await debit(acme, grantId, '0.000000002')).json().remaining).toBe('0.0000');
  expect(await balanceOf(acme, grantId)).toMatchObject({ remainingBudget: '0.0000', status: 'exhausted' });
  expect((await acme('GET', '/v1/budget/verify')).json()).toMatchObject({ valid: true });
});

test('agents 44: the largest budget loses nothing to the smallest debit', async () => {
  const { acme } = await sandbox();
  const grantId = await withBudget(acme, '999999999999');
  expect((await debit(acme, grantId, '0.000000001')).json().remaining).toBe('999999999998.999999999');
});

test('agents 44: a grant with a tiny budget shows it from the request to the token', async () => {
  const { acme } = await sandbox();
  const { grantId, budget } = await grantTo(acme, { budget: { amount: 4.5e-5, currency: 'EUR' } });
  expect(budget).toEqual({ amount: '0.000045', remaining: '0.000045', currency: 'EUR' });
  expect((await acme('GET', `/v1/grants/${grantId}`)).json().budget).toEqual(budget);
});

test('agents 44: a request of the release before, which has only ten-thousandths, keeps its budget', async () => {
  const { acme, db } = await sandbox();
  const { agentId } = await registerAgent(acme);
  const budget = { amount: '12.5', currency: 'USD' };
  const { authRequestId, code } = (
    await acme('POST', '/v1/authorize', {
      agentId,
      principalId: 'user_42',
      scopes: ['calendar:read'],
      budget,
    })
  ).json();
  await sql`update auth_requests set budget_units = null
    where developer_id = ${acme.developerId} and id = ${authRequestId} and budget_amount = 125000`.execute(
    db,
  );

  const shown = (await acme('GET', `/v1/authorize/${authRequestId}`)).json();
  expect(shown.budget).toEqual({ amount: '12.5000', currency: 'USD' });
  const granted = (await acme('POST', '/v1/token', { agentId, code })).json();
  expect(granted.budget).toEqual({ amount: '12.5000', remaining: '12.5000', currency: 'USD' });
});

test('agents 44: an instance of the release before debits in ten-thousandths, and reads them', async () => {
  const { acme, db, clock } = await sandbox();
  const grantId = await withBudget(acme, '1.00005');
  const { id } = await balanceOf(acme, grantId);
  const step = { id, transactionId: 'btx_01K9Z3QW5M8T2V4X6Y7Z8A9B0C', stands: 'x', debited: 0, shares: {} };
  const write = { amount: '4000', description: '', metadata: {}, chain: [grantId], allocations: [step] };
  await sql`select write_debit(${acme.developerId}, ${clock()}, ${JSON.stringify(write)}::jsonb)`.execute(db);

  const { rows } = await sql<{ remaining: string; initial: string }>`
    select initial, remaining from budget_allocations where developer_id = ${acme.developerId} and id = ${id}`.execute(
    db,
  );
  expect(rows).toEqual([{ initial: '10000', remaining: '6000' }]);
  expect((await balanceOf(acme, grantId)).remainingBudget).toBe('0.60005');
});

test('agents 44: the sum of many tiny debits is exact', async () => {
  const { acme } = await sandbox();
  const tiny = fc.bigInt({ min: 1n, max: 99_999_999n });
  await fc.assert(
    fc.asyncProperty(fc.array(tiny, { minLength: 1, maxLength: 30 }), async (units) => {
      const grantId = await withBudget(acme, '10');
      const answers = await Promise.all(units.map((each) => debit(acme, grantId, writeAmount(each))));
      expect(answers.every(({ statusCode }) => statusCode === 200)).toBe(true);
      const spent = units.reduce((sum, each) => sum + each, 0n);
      const balance = await balanceOf(acme, grantId);
      expect(readAmount(balance.spent)).toBe(spent);
      expect(balance.remainingBudget).toBe(writeAmount(10_000_000_000n - spent));
    }),
    { numRuns: 8 },
  );
  expect((await acme('GET', '/v1/budget/verify')).json()).toMatchObject({ valid: true, faults: [] });
});
