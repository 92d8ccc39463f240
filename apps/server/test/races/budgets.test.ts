import { test } from 'vitest';
import { grantTo, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

type Held = Awaited<ReturnType<typeof grantTo>>;

async function withBudget(acme: Developer) {
  const held = await grantTo(acme);
  await acme('POST', '/v1/budget/allocate', { grantId: held.grantId, initialBudget: '10' });
  return held;
}

/** A grant with a budget that was debited, and the debit. */
async function withDebit(acme: Developer) {
  const held = await withBudget(acme);
  const { transactionId } = (
    await acme('POST', '/v1/budget/debit', { grantId: held.grantId, amount: '8' })
  ).json();
  return { ...held, transactionId: String(transactionId) };
}

/** A part of a grant with a budget. It has none of its own. */
async function withPart(acme: Developer) {
  const held = await withBudget(acme);
  const { agentId } = await registerAgent(acme, 'Helper');
  const part = { parentGrantToken: held.grantToken, subAgentId: agentId, scopes: ['calendar:read'] };
  const { grantId } = (await acme('POST', '/v1/grants/delegate', part)).json();
  return { ...held, partId: String(grantId) };
}

const allocate = ({ acme }: Side, { grantId }: { grantId: string }) =>
  acme('POST', '/v1/budget/allocate', { grantId, initialBudget: '5' });
const allocatePart = (side: Side, { partId }: { partId: string }) => allocate(side, { grantId: partId });
const debit = ({ acme }: Side, { grantId }: { grantId: string }) =>
  acme('POST', '/v1/budget/debit', { grantId, amount: '6' });
const debitPart = (side: Side, { partId }: { partId: string }) => debit(side, { grantId: partId });
const refund = ({ acme }: Side, { transactionId }: { transactionId: string }) =>
  acme('POST', '/v1/budget/refund', { transactionId });
const revoke = ({ acme }: Side, { grantId }: Held) => acme('DELETE', `/v1/grants/${grantId}`);

test('R9 two debits of a budget that covers one', () =>
  race({
    prepare: withBudget,
    one: debit,
    answers: ['200, 402 INSUFFICIENT_BUDGET', '402 INSUFFICIENT_BUDGET, 200'],
  }));
test('R9 a debit of a grant, and one of a part of it', () =>
  race({
    prepare: withPart,
    one: debit,
    other: debitPart,
    answers: ['200, 402 INSUFFICIENT_BUDGET', '402 INSUFFICIENT_BUDGET, 200'],
  }));
test('R9 a debit and the revocation of its grant', () =>
  race({
    prepare: withBudget,
    one: debit,
    other: revoke,
    answers: ['200, 204', '409 GRANT_INACTIVE, 204'],
  }));
test('R9 a debit of a part, and the revocation of the whole grant', () =>
  race({
    prepare: withPart,
    one: debitPart,
    other: revoke,
    answers: ['200, 204', '409 GRANT_INACTIVE, 204'],
  }));
test('two allocations to a grant', () =>
  race({
    prepare: (acme: Developer) => grantTo(acme),
    one: allocate,
    answers: ['201, 409 CONFLICT', '409 CONFLICT, 201'],
  }));
test('an allocation and the revocation of its grant', () =>
  race({
    prepare: (acme: Developer) => grantTo(acme),
    one: allocate,
    other: revoke,
    answers: ['201, 204', '409 GRANT_INACTIVE, 204'],
  }));
test('R9 an allocation to a part, and a debit that leaves too little above it', () =>
  race({
    prepare: withPart,
    one: allocatePart,
    other: debit,
    answers: ['201, 200', '402 INSUFFICIENT_BUDGET, 200'],
  }));
test('a debit of a part, and an allocation to it', () =>
  race({
    prepare: withPart,
    one: debitPart,
    other: ({ acme }, { partId }) =>
      acme('POST', '/v1/budget/allocate', { grantId: partId, initialBudget: '4' }),
    answers: ['200, 201', '402 INSUFFICIENT_BUDGET, 201'],
  }));
test('two refunds of a debit', () =>
  race({ prepare: withDebit, one: refund, answers: ['200, 409 CONFLICT', '409 CONFLICT, 200'] }));
test('R9 a refund and a debit', () =>
  race({
    prepare: withDebit,
    one: refund,
    other: ({ acme }, { grantId }) => acme('POST', '/v1/budget/debit', { grantId, amount: '2' }),
    answers: ['200, 200'],
  }));
test('a refund and the revocation of its grant', () =>
  race({ prepare: withDebit, one: refund, other: revoke, answers: ['200, 204'] }));
