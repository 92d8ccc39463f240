import { test } from 'vitest';
import { grantTo, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { send } from '../app/repeating.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

const INITIAL = '10';

async function withGrant(acme: Developer) {
  const { grantId, agentId } = await grantTo(acme);
  return { grantId: String(grantId), agentId: String(agentId) };
}

async function withBudget(acme: Developer) {
  const held = await withGrant(acme);
  await acme('POST', '/v1/budget/allocate', { grantId: held.grantId, initialBudget: INITIAL });
  return held;
}

async function debited(acme: Developer) {
  const held = await withBudget(acme);
  const { transactionId } = (
    await acme('POST', '/v1/budget/debit', { grantId: held.grantId, amount: '6' })
  ).json();
  return { ...held, transactionId: String(transactionId) };
}

/** A grant without a budget, and a part of it that has one. */
async function withPart(acme: Developer) {
  const { grantId: aboveId, grantToken } = await grantTo(acme);
  const { agentId } = await registerAgent(acme);
  const part = { parentGrantToken: grantToken, subAgentId: agentId, scopes: ['calendar:read'] };
  const { grantId } = (await acme('POST', '/v1/grants/delegate', part)).json();
  await acme('POST', '/v1/budget/allocate', { grantId, initialBudget: INITIAL });
  return { aboveId, grantId: String(grantId) };
}

type Granted = Awaited<ReturnType<typeof withGrant>>;
type Budgeted = Pick<Granted, 'grantId'>;
type Debited = Awaited<ReturnType<typeof debited>>;
type Parted = Awaited<ReturnType<typeof withPart>>;

/** In a larger transaction, which is still open when a rival comes. */
const keyed =
  <Held extends object>(url: string, bodyOf: (held: Held) => object) =>
  ({ service, acme }: Side, held: Held) =>
    send(service, { apiKey: acme.apiKey, url, body: bodyOf(held), key: crypto.randomUUID() });

const debitOf = (amount: string) =>
  keyed('/v1/budget/debit', ({ grantId }: Budgeted) => ({ grantId, amount }));
const revokeAgent = ({ acme }: Side, { agentId }: Granted) => acme('DELETE', `/v1/agents/${agentId}`);
const debitAtOnce = ({ acme }: Side, { grantId }: Budgeted) =>
  acme('POST', '/v1/budget/debit', { grantId, amount: '6' });
const allocate = keyed('/v1/budget/allocate', ({ grantId }: Budgeted) => ({
  grantId,
  initialBudget: INITIAL,
}));
const refundOf = (amount: string) =>
  keyed('/v1/budget/refund', ({ transactionId }: Debited) => ({ transactionId, amount }));

test('two debits of a budget that has room for one', () =>
  race({
    prepare: withBudget,
    one: debitOf('6'),
    answers: ['200, 402 INSUFFICIENT_BUDGET', '402 INSUFFICIENT_BUDGET, 200'],
  }));
test('two debits that spend half of a budget together', () =>
  race({ prepare: withBudget, one: debitOf('3'), answers: ['200, 200'] }));
test('a debit of a part, and an allocation above it', () =>
  race({
    prepare: withPart,
    one: debitAtOnce,
    other: ({ acme }, { aboveId }: Parted) =>
      acme('POST', '/v1/budget/allocate', { grantId: aboveId, initialBudget: INITIAL }),
    answers: ['200, 201'],
  }));
test('two allocations of a grant', () =>
  race({
    prepare: withGrant,
    one: allocate,
    answers: ['201, 409 CONFLICT', '409 CONFLICT, 201'],
  }));
test('two refunds of a debit, of which only one can be whole', () =>
  race({
    prepare: debited,
    one: refundOf('6'),
    answers: ['200, 409 CONFLICT', '409 CONFLICT, 200'],
  }));
test('a refund and a debit that needs it', () =>
  race({
    prepare: debited,
    one: refundOf('6'),
    other: debitOf('6'),
    answers: ['200, 200', '200, 402 INSUFFICIENT_BUDGET'],
  }));
test('a debit and the end of its agent', () =>
  race({
    prepare: withBudget,
    one: debitAtOnce,
    other: revokeAgent,
    answers: ['200, 204', '409 GRANT_INACTIVE, 204'],
  }));
test('an allocation and the end of its agent', () =>
  race({
    prepare: withGrant,
    one: allocate,
    other: revokeAgent,
    answers: ['201, 204', '409 GRANT_INACTIVE, 204'],
  }));
