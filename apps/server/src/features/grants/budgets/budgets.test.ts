import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import {
  entriesOf,
  grantTo,
  partsOf,
  refusalOf,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { type Developer, openConnections } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();
const nobody = 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C';

const allocate = (acme: Developer, grantId: string, initialBudget: unknown = '10', currency?: string) =>
  acme('POST', '/v1/budget/allocate', { grantId, initialBudget, ...(currency && { currency }) });
const debit = (acme: Developer, grantId: string, amount: unknown, more: object = {}) =>
  acme('POST', '/v1/budget/debit', { grantId, amount, ...more });
const refund = (acme: Developer, transactionId: string, amount?: string) =>
  acme('POST', '/v1/budget/refund', { transactionId, ...(amount && { amount }) });
/** A part of a grant, for an agent of its own. */
async function delegatedTo(acme: Developer, { grantToken }: { grantToken: string }, more: object = {}) {
  const { agentId } = await registerAgent(acme);
  const scopes = ['calendar:read'];
  const body = { parentGrantToken: grantToken, subAgentId: agentId, scopes, ...more };
  return (await acme('POST', '/v1/grants/delegate', body)).json();
}
const balanceOf = async (acme: Developer, grantId: string) =>
  (await acme('GET', `/v1/budget/balance/${grantId}`)).json().remainingBudget;
const verified = async (acme: Developer) => (await acme('GET', '/v1/budget/verify')).json();

async function withBudget(acme: Developer, initialBudget: unknown = '10') {
  const { grantId } = await grantTo(acme);
  const answer = await allocate(acme, grantId, initialBudget);
  expect(answer.statusCode).toBe(201);
  return { grantId, allocation: answer.json() };
}

describe('R9: an allocation', () => {
  test('has its amounts as texts with four decimals', async () => {
    const { acme, clock } = await sandbox();
    const { grantId, allocation } = await withBudget(acme, 99.5);

    expect(allocation).toEqual({
      id: expect.stringMatching(/^bdg_/),
      grantId,
      agentId: expect.stringMatching(/^ag_/),
      developerId: acme.developerId,
      initialBudget: '99.5000',
      remainingBudget: '99.5000',
      spent: '0.0000',
      currency: 'USD',
      status: 'active',
      createdAt: clock().toISOString(),
      updatedAt: clock().toISOString(),
    });
    expect((await acme('GET', `/v1/budget/balance/${grantId}`)).json()).toEqual(allocation);
    expect((await acme('GET', '/v1/budget/allocations')).json()).toEqual({
      allocations: [allocation],
      nextCursor: null,
    });
    expect((await acme('GET', `/v1/grants/${grantId}`)).json().budget).toEqual({
      amount: '99.5000',
      remaining: '99.5000',
      currency: 'USD',
    });
    const [entry] = await entriesOf(acme, 'budget.allocated');
    expect(entry).toMatchObject({
      grantId,
      metadata: { allocationId: allocation.id, initialBudget: '99.5000', currency: 'USD' },
    });
  });

  test.each([
    0,
    '0',
    -1,
    '-1',
    1e21,
    1e-10,
    0.1 + 0.2,
    '1.0000000001',
    '1e3',
    '',
    '1000000000000',
    1_000_000_000_000.5,
    null,
    true,
    {},
  ])('with the amount %j is refused', async (initialBudget) => {
    const { acme } = await sandbox();
    const { grantId } = await grantTo(acme);

    const refused = await allocate(acme, grantId, initialBudget);

    expect(refusalOf(refused)).toBe('400 BAD_REQUEST');
    expect(refused.json().details.fields[0].path).toBe('initialBudget');
  });

  test('needs an active grant of the developer that has none', async () => {
    const { acme, service } = await sandbox();
    const { grantId } = await withBudget(acme);
    const other = await service.asDeveloper({ mode: 'sandbox' });

    expect(refusalOf(await allocate(acme, grantId))).toBe('409 CONFLICT');
    expect(refusalOf(await allocate(other, grantId))).toBe('404 NOT_FOUND');
    expect(refusalOf(await allocate(acme, nobody))).toBe('404 NOT_FOUND');
    await acme('DELETE', `/v1/grants/${grantId}`);
    const ended = await grantTo(acme);
    await acme('DELETE', `/v1/grants/${ended.grantId}`);
    const refused = await allocate(acme, ended.grantId);
    expect([refusalOf(refused), refused.json().details]).toEqual([
      '409 GRANT_INACTIVE',
      { status: 'revoked' },
    ]);
    expect((await acme('GET', `/v1/budget/balance/${grantId}`)).json().status).toBe('closed');
  });

  test('for a part is no more than what is left above, in the same currency', async () => {
    const { acme } = await sandbox();
    const parent = await grantTo(acme);
    const child = await delegatedTo(acme, parent);
    await allocate(acme, parent.grantId, '10', 'EUR');
    await debit(acme, parent.grantId, '4');

    expect(refusalOf(await allocate(acme, child.grantId, '1', 'USD'))).toBe('409 CURRENCY_MISMATCH');
    const refused = await allocate(acme, child.grantId, '6.0001', 'EUR');
    expect(refusalOf(refused)).toBe('402 INSUFFICIENT_BUDGET');
    expect(refused.json().details).toMatchObject({
      remaining: '6.0000',
      requested: '6.0001',
      grantId: parent.grantId,
    });
    expect((await allocate(acme, child.grantId, '6', 'EUR')).statusCode).toBe(201);
  });

  test('is listed by its status', async () => {
    const { acme, advance } = await startSandbox();
    const active = await withBudget(acme);
    const exhausted = await withBudget(acme);
    const revoked = await withBudget(acme);
    const { grantId: expired } = await grantTo(acme, { expiresIn: '1m' });
    await allocate(acme, expired);
    await debit(acme, exhausted.grantId, '10');
    await acme('DELETE', `/v1/grants/${revoked.grantId}`);
    advance(60);

    const listed = async (status: string) => {
      const { allocations } = (await acme('GET', `/v1/budget/allocations?status=${status}`)).json();
      return allocations.map(({ grantId }: { grantId: string }) => grantId).sort();
    };

    expect(await listed('active')).toEqual([active.grantId]);
    expect(await listed('exhausted')).toEqual([exhausted.grantId]);
    expect(await listed('closed')).toEqual([revoked.grantId, expired].sort());
  });
});

describe('R9: a debit', () => {
  test('takes the amount, exactly', async () => {
    const { acme, clock } = await sandbox();
    const { grantId, allocation } = await withBudget(acme, '0.3');

    await debit(acme, grantId, 0.1);
    const answer = await debit(acme, grantId, '0.2', { description: 'Flight', metadata: { leg: 1 } });

    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      {
        remaining: '0.0000',
        transactionId: expect.stringMatching(/^btx_/),
        grantId,
        currency: 'USD',
        allocationId: allocation.id,
      },
    ]);
    const { transactions, total } = (await acme('GET', `/v1/budget/transactions/${grantId}`)).json();
    expect(total).toBe(2);
    expect(transactions).toContainEqual({
      id: answer.json().transactionId,
      grantId,
      allocationId: allocation.id,
      amount: '0.2000',
      description: 'Flight',
      metadata: { leg: 1 },
      createdAt: clock().toISOString(),
      balanceAfter: '0.0000',
      sourceTransactionId: null,
      sourceGrantId: null,
      refundOf: null,
    });
    expect(transactions).toContainEqual(expect.objectContaining({ description: '', metadata: {} }));
    expect((await acme('GET', `/v1/budget/balance/${grantId}`)).json().status).toBe('exhausted');
    expect(await verified(acme)).toEqual({ valid: true, allocations: 1, faults: [] });
  });

  test('larger than the budget changes nothing, and leaves an entry', async () => {
    const { acme } = await sandbox();
    const { grantId, allocation } = await withBudget(acme);

    const refused = await debit(acme, grantId, '10.0001');

    expect(refusalOf(refused)).toBe('402 INSUFFICIENT_BUDGET');
    const details = {
      remaining: '10.0000',
      currency: 'USD',
      requested: '10.0001',
      allocationId: allocation.id,
    };
    expect(refused.json().details).toEqual({ ...details, grantId });
    expect(await balanceOf(acme, grantId)).toBe('10.0000');
    const [entry] = await entriesOf(acme, 'budget.debit_blocked');
    expect(entry).toMatchObject({ grantId, status: 'blocked', metadata: details });
  });

  test('needs an active grant with a budget', async () => {
    const { acme, advance, service } = await startSandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const { grantId } = await withBudget(acme);
    const { grantId: without } = await grantTo(acme, { expiresIn: '2h' });

    expect(refusalOf(await debit(other, grantId, '1'))).toBe('404 NOT_FOUND');
    expect(refusalOf(await debit(acme, nobody, '1'))).toBe('404 NOT_FOUND');
    expect(refusalOf(await debit(acme, without, '1'))).toBe('404 NOT_FOUND');
    await allocate(acme, without);
    advance(7200);
    expect((await debit(acme, without, '1')).json().details).toEqual({ status: 'expired' });
    await acme('DELETE', `/v1/grants/${grantId}`);
    expect((await debit(acme, grantId, '1')).json()).toMatchObject({
      code: 'GRANT_INACTIVE',
      details: { status: 'revoked' },
    });
  });

  test.each<[object, string]>([
    [{ description: 'x'.repeat(501) }, 'description'],
    [{ metadata: { long: 'x'.repeat(8192) } }, 'metadata'],
    [{ metadata: { a: { b: { c: { d: { e: {} } } } } } }, 'metadata'],
    [{ metadata: 'text' }, 'metadata'],
    [{ amount: '0' }, 'amount'],
    [{ other: 1 }, 'other'],
  ])('with a field out of its bounds is refused: case %#', async (more, path) => {
    const { acme } = await sandbox();
    const { grantId } = await withBudget(acme);

    const refused = await debit(acme, grantId, '1', more);

    expect([refusalOf(refused), refused.json().details.fields[0].path]).toEqual(['400 BAD_REQUEST', path]);
  });

  test('has metadata of five levels at most', async () => {
    const { acme } = await sandbox();
    const { grantId } = await withBudget(acme);

    expect((await debit(acme, grantId, '1', { metadata: { a: { b: { c: { d: {} } } } } })).statusCode).toBe(
      200,
    );
  });

  test('announces half, four fifths and the end of a budget once each', async () => {
    const { acme } = await sandbox();
    const { grantId, allocation } = await withBudget(acme);

    await debit(acme, grantId, '4.9999');
    const first = await debit(acme, grantId, '0.0001');
    await refund(acme, first.json().transactionId);
    await debit(acme, grantId, '0.0001'); // again at half
    await debit(acme, grantId, '5');

    const base = { allocationId: allocation.id, currency: 'USD' };
    const said = await entriesOf(acme, 'budget.threshold');
    expect(said.map(({ metadata }) => metadata)).toMatchObject([
      { ...base, pct: 50, remaining: '5.0000', initialBudget: '10.0000' },
      { ...base, pct: 80, remaining: '0.0000', initialBudget: '10.0000' },
    ]);
    const ended = await entriesOf(acme, 'budget.exhausted');
    expect(ended.map(({ metadata }) => metadata)).toMatchObject([{ ...base, remaining: '0.0000' }]);
    const { events } = (await acme('GET', '/v1/events?types=budget.debited')).json();
    expect(events).toHaveLength(4);
    expect(events.map(({ data }: { data: object }) => data)).toContainEqual({
      ...base,
      grantId,
      agentId: expect.any(String),
      principalId: 'user_42',
      transactionId: first.json().transactionId,
      amount: '0.0001',
      remaining: '5.0000',
    });
    expect(await verified(acme)).toMatchObject({ valid: true });
    expect((await acme('GET', '/v1/audit/verify')).json()).toMatchObject({ valid: true });
  });

  test.each([200, 1000])('succeeds 100 times when %i come at once for a hundredth each', async (times) => {
    const { acme, db } = await sandbox();
    const { grantId } = await withBudget(acme);
    await openConnections(db);

    const answers = await Promise.all(Array.from({ length: times }, () => debit(acme, grantId, '0.1')));

    const statuses = Map.groupBy(answers, ({ statusCode }) => statusCode);
    expect([statuses.get(200)?.length, statuses.get(402)?.length]).toEqual([100, times - 100]);
    expect(await balanceOf(acme, grantId)).toBe('0.0000');
    expect(await entriesOf(acme, 'budget.exhausted')).toHaveLength(1);
    expect((await entriesOf(acme, 'budget.threshold')).map(({ metadata }) => metadata.pct)).toEqual([50, 80]);
    expect(new Set(answers.map((answer) => answer.json().remaining)).size).toBe(101); // each rest once
    expect(await verified(acme)).toMatchObject({ valid: true });
  });

  test('is not made after its grant was revoked, when both come at once', async () => {
    const { acme, db } = await sandbox();
    const { grantId } = await withBudget(acme);
    await openConnections(db);

    const [revoked, ...debits] = await Promise.all([
      acme('DELETE', `/v1/grants/${grantId}`),
      ...Array.from({ length: 30 }, () => debit(acme, grantId, '0.1')),
    ]);

    const made = debits.filter(({ statusCode }) => statusCode === 200).length;
    expect(revoked?.statusCode).toBe(204);
    expect(debits.filter(({ statusCode }) => statusCode === 409)).toHaveLength(30 - made);
    expect(refusalOf(await debit(acme, grantId, '0.1'))).toBe('409 GRANT_INACTIVE');
    const actions = (await acme('GET', `/v1/audit/entries?grantId=${grantId}&limit=500`)).json().entries;
    const names = actions.map(({ action }: { action: string }) => action);
    expect(names.slice(names.indexOf('grant.revoked') + 1)).not.toContain('budget.debited');
    expect(names.filter((name: string) => name === 'budget.debited')).toHaveLength(made);
  });

  test('is made once when it is repeated under its key', async () => {
    const { acme, app } = await sandbox();
    const { grantId } = await withBudget(acme);
    const headers = { authorization: `Bearer ${acme.apiKey}`, 'idempotency-key': 'flight-42' };
    const send = (amount: string) =>
      app.inject({ method: 'POST', url: '/v1/budget/debit', headers, body: { grantId, amount } });

    const first = await send('1');
    const again = await send('1');

    expect([first.statusCode, again.statusCode]).toEqual([200, 200]);
    expect(again.json()).toEqual(first.json());
    expect(refusalOf(await send('2'))).toBe('409 IDEMPOTENCY_CONFLICT');
    expect(await balanceOf(acme, grantId)).toBe('9.0000');
  });
});

test.each([
  ['budget_entries', 'units', 1, ['balance', 'movement']],
  ['budget_entries', 'units', -1, ['balance', 'movement']],
  ['budget_allocations', 'remaining_units', -1, ['balance']],
  ['budget_transactions', 'amount_units', 1, ['balance']],
] as const)(
  'books in which %s.%s differs by %i are told apart from good ones',
  async (table, column, by, said) => {
    const { acme, db } = await sandbox();
    const { grantId, allocation } = await withBudget(acme);
    await debit(acme, grantId, '4');
    const its = sql`ctid in (select ctid from ${sql.table(table)} where developer_id = ${acme.developerId} limit 1)`;

    await sql`update ${sql.table(table)} set ${sql.ref(column)} = ${sql.ref(column)} + ${by} where ${its}`.execute(
      db,
    );

    const { valid, faults } = await verified(acme);
    expect(valid).toBe(false);
    const words = faults.map(({ fault }: { fault: string }) => fault.split(' ')[0]).sort();
    expect(words).toEqual(said);
    expect(faults[0].allocationId).toBe(allocation.id);
  },
);

describe('a tree of grants', () => {
  test('spends the budgets of its root, whichever grant is debited', async () => {
    const { acme } = await sandbox();
    const root = await grantTo(acme);
    const child = await delegatedTo(acme, root);
    const grandchild = await delegatedTo(acme, child);
    const { id: rootId } = (await allocate(acme, root.grantId, '10')).json();
    const { id: childId } = (await allocate(acme, child.grantId, '6')).json();

    const answer = (await debit(acme, grandchild.grantId, '4')).json();

    expect(answer).toMatchObject({
      remaining: '2.0000',
      allocationId: childId,
      grantId: grandchild.grantId,
    });
    expect(await balanceOf(acme, root.grantId)).toBe('6.0000');
    const rowsOf = async (grantId: string) =>
      (await acme('GET', `/v1/budget/transactions/${grantId}`)).json().transactions;
    expect(await rowsOf(root.grantId)).toMatchObject([
      { allocationId: rootId, sourceTransactionId: answer.transactionId, sourceGrantId: grandchild.grantId },
    ]);
    expect(await rowsOf(child.grantId)).toMatchObject([
      { id: answer.transactionId, sourceTransactionId: null, sourceGrantId: grandchild.grantId },
    ]);
    expect(await rowsOf(grandchild.grantId)).toEqual([]);

    const ofChild = await debit(acme, child.grantId, '2.0001');
    expect(ofChild.json().details).toMatchObject({ allocationId: childId, remaining: '2.0000' });
    await debit(acme, root.grantId, '5');
    const ofRoot = await debit(acme, child.grantId, '1.5');
    expect(ofRoot.json().details).toMatchObject({ allocationId: rootId, remaining: '1.0000' });
    expect(await balanceOf(acme, child.grantId)).toBe('2.0000');
    expect(await verified(acme)).toMatchObject({ valid: true, allocations: 2 });
  });

  test('may spend what the least of its budgets leaves, wherever that is', async () => {
    const { acme } = await sandbox();
    const root = await grantTo(acme);
    const child = await delegatedTo(acme, root);
    await allocate(acme, root.grantId, '10');
    await allocate(acme, child.grantId, '6');
    const remaining = async () => (await delegatedTo(acme, child)).budget.remaining;

    const before = await remaining();
    await debit(acme, root.grantId, '7');

    expect([before, await remaining()]).toEqual(['6.0000', '3.0000']);
  });

  test('is debited no more once a grant above has ended', async () => {
    const { acme } = await sandbox();
    const root = await grantTo(acme);
    const child = await delegatedTo(acme, root);
    await allocate(acme, root.grantId);
    await acme('DELETE', `/v1/grants/${root.grantId}`);

    expect(refusalOf(await debit(acme, child.grantId, '1'))).toBe('409 GRANT_INACTIVE');
  });

  test('is not debited for a part that has ended, though the grants above go on', async () => {
    const { acme } = await sandbox();
    const root = await grantTo(acme);
    const child = await delegatedTo(acme, root);
    await allocate(acme, root.grantId);
    await acme('DELETE', `/v1/grants/${child.grantId}`);

    expect(refusalOf(await debit(acme, child.grantId, '1'))).toBe('409 GRANT_INACTIVE');
    expect(await balanceOf(acme, root.grantId)).toBe('10.0000');
  });
});

describe('a refund', () => {
  test('goes back to every allocation, as rows that name the debit', async () => {
    const { acme } = await sandbox();
    const root = await grantTo(acme);
    const child = await delegatedTo(acme, root);
    await allocate(acme, root.grantId, '10');
    const { id: childId } = (await allocate(acme, child.grantId, '6')).json();
    const { transactionId } = (await debit(acme, child.grantId, '4')).json();

    const part = await refund(acme, transactionId, '1.5');

    expect([part.statusCode, part.json()]).toEqual([
      200,
      {
        remaining: '3.5000',
        transactionId: expect.stringMatching(/^btx_/),
        grantId: child.grantId,
        currency: 'USD',
        allocationId: childId,
        refundOf: transactionId,
        amount: '1.5000',
      },
    ]);
    expect(await balanceOf(acme, root.grantId)).toBe('7.5000');
    const tooMuch = await refund(acme, transactionId, '2.5001');
    expect(refusalOf(tooMuch)).toBe('400 BAD_REQUEST');
    await acme('DELETE', `/v1/grants/${child.grantId}`);
    expect((await refund(acme, transactionId)).json()).toMatchObject({
      remaining: '6.0000',
      amount: '2.5000',
    });
    expect(refusalOf(await refund(acme, transactionId))).toBe('409 CONFLICT');
    expect(await balanceOf(acme, root.grantId)).toBe('10.0000');
    const { transactions } = (await acme('GET', `/v1/budget/transactions/${child.grantId}`)).json();
    expect(transactions.map(({ amount }: { amount: string }) => amount).sort()).toEqual([
      '-1.5000',
      '-2.5000',
      '4.0000',
    ]);
    expect((await entriesOf(acme, 'budget.refunded')).map(({ metadata }) => metadata)).toHaveLength(4);
    expect(await verified(acme)).toMatchObject({ valid: true });
  });

  test('names a debit of the developer, and not a row above it', async () => {
    const { acme, service } = await sandbox();
    const other = await service.asDeveloper({ mode: 'sandbox' });
    const root = await grantTo(acme);
    const child = await delegatedTo(acme, root);
    await allocate(acme, root.grantId);
    await allocate(acme, child.grantId, '5');
    const { transactionId } = (await debit(acme, child.grantId, '4')).json();
    const [above] = (await acme('GET', `/v1/budget/transactions/${root.grantId}`)).json().transactions;

    expect(refusalOf(await refund(other, transactionId))).toBe('404 NOT_FOUND');
    expect(refusalOf(await refund(acme, 'btx_01K9Z3QW5M8T2V4X6Y7Z8A9B0C'))).toBe('404 NOT_FOUND');
    expect(refusalOf(await refund(acme, above.id))).toBe('400 BAD_REQUEST');
    const { transactionId: back } = (await refund(acme, transactionId, '1')).json();
    expect(refusalOf(await refund(acme, back))).toBe('400 BAD_REQUEST');
  });

  test('gives back no more than the debit took when 20 come at once', async () => {
    const { acme, db } = await sandbox();
    const { grantId } = await withBudget(acme);
    const { transactionId } = (await debit(acme, grantId, '3')).json();
    await openConnections(db);

    const answers = await Promise.all(Array.from({ length: 20 }, () => refund(acme, transactionId, '1')));

    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(3);
    expect(await balanceOf(acme, grantId)).toBe('10.0000');
    expect(await verified(acme)).toMatchObject({ valid: true });
  });
});

describe('the transactions of a grant', () => {
  test('are pages by number or from a cursor on', async () => {
    const { acme } = await sandbox();
    const { grantId } = await withBudget(acme);
    for (let at = 0; at < 3; at += 1) await debit(acme, grantId, '1');
    const list = async (query: string) =>
      (await acme('GET', `/v1/budget/transactions/${grantId}?${query}`)).json();

    const first = await list('page=1&pageSize=2');
    const second = await list('page=2&pageSize=2');
    const rest = await list(`limit=2&cursor=${first.nextCursor}`);

    expect([first.transactions.length, first.total, first.page, first.pageSize]).toEqual([2, 3, 1, 2]);
    expect(second.transactions).toEqual(rest.transactions);
    expect((await list('')).pageSize).toBe(50);
    expect((await list('page=1&limit=2')).code).toBe('BAD_REQUEST');
    expect(refusalOf(await acme('GET', `/v1/budget/transactions/${nobody}`))).toBe('404 NOT_FOUND');
    expect(refusalOf(await acme('GET', `/v1/budget/balance/${nobody}`))).toBe('404 NOT_FOUND');
  });
});

describe('a token', () => {
  const entryOf = (token: string) => partsOf(token).payload.authorization_details?.at(-1);
  const verify = async (acme: Developer, token: string) =>
    (await acme('POST', '/v1/tokens/verify', { token })).json();

  test('states what is left of the budget that was asked for, and verifies whatever is left later', async () => {
    const { acme } = await sandbox();

    const { grantToken, refreshToken, agentId, grantId, budget } = await grantTo(acme, {
      budget: { amount: '12.5', currency: 'EUR' },
    });
    const ownBudget = { amount: '12.5000', remaining: '12.5000', currency: 'EUR' };
    expect(budget).toEqual(ownBudget);
    expect(entryOf(grantToken)).toEqual({
      type: 'urn:service:budget:v1',
      amount: '12.5000',
      currency: 'EUR',
    });
    expect(partsOf(grantToken).payload.bdg).toBe(12.5);
    expect((await acme('GET', `/v1/grants?agentId=${agentId}`)).json().grants[0].budget).toEqual(ownBudget);

    await debit(acme, grantId, '2.5');
    const refreshed = (await acme('POST', '/v1/token/refresh', { refreshToken, agentId })).json();

    expect(refreshed.budget).toEqual({ ...ownBudget, remaining: '10.0000' });
    expect(entryOf(refreshed.grantToken).amount).toBe('10.0000');
    expect(await verify(acme, grantToken)).toMatchObject({ valid: true, grantId });
    expect(await verify(acme, refreshed.grantToken)).toMatchObject({ valid: true, grantId });
    expect((await verify(acme, grantToken)).authorizationDetails).toBeUndefined();
  });

  test('has a budget that was allocated later from the next refresh on', async () => {
    const { acme } = await sandbox();
    const { refreshToken, agentId, grantId, grantToken } = await grantTo(acme);
    await allocate(acme, grantId, '3');

    const refreshed = (await acme('POST', '/v1/token/refresh', { refreshToken, agentId })).json();

    expect(entryOf(grantToken)).toBeUndefined();
    expect(entryOf(refreshed.grantToken)).toMatchObject({ amount: '3.0000', currency: 'USD' });
    expect(await verify(acme, refreshed.grantToken)).toMatchObject({ valid: true });
  });

  test('states the least that is left of the budget of its grant and those above', async () => {
    const { acme } = await sandbox();
    const root = await grantTo(acme, { budget: { amount: 10 } });

    const child = await delegatedTo(acme, root, { budget: { amount: '4' } });
    const without = await delegatedTo(acme, root);
    await debit(acme, root.grantId, '7');
    const late = await acme('POST', '/v1/token/refresh', {
      refreshToken: child.refreshToken,
      agentId: child.agentId,
    });

    expect(child.budget).toEqual({ amount: '4.0000', remaining: '4.0000', currency: 'USD' });
    expect(without.budget).toEqual({ remaining: '10.0000', currency: 'USD' });
    expect(late.json().budget).toEqual({ amount: '4.0000', remaining: '3.0000', currency: 'USD' });
    expect(await verify(acme, without.grantToken)).toMatchObject({ valid: true });
    expect((await acme('GET', `/v1/grants/${without.grantId}`)).json().budget).toBeUndefined();
  });

  test.each([
    [{ amount: '10.0001' }, '402 INSUFFICIENT_BUDGET'],
    [{ amount: '1', currency: 'EUR' }, '409 CURRENCY_MISMATCH'],
    [{ amount: '0' }, '400 BAD_REQUEST'],
    [{ amount: '10' }, '201'],
  ])('is not issued for a part with the budget %j, unless it is covered', async (budget, expected) => {
    const { acme } = await sandbox();
    const { grantToken } = await grantTo(acme, { budget: { amount: '10' } });
    const { agentId } = await registerAgent(acme);

    const answer = await acme('POST', '/v1/grants/delegate', {
      parentGrantToken: grantToken,
      subAgentId: agentId,
      scopes: ['calendar:read'],
      budget,
    });

    expect(refusalOf(answer)).toBe(expected);
  });
});
