import { test } from 'vitest';
import { authorize, grantTo, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { send } from '../app/repeating.ts';
import type { Developer } from '../app/start-app.ts';

const { race } = interleaving();

const deny = ({ acme }: Side) => acme('POST', '/v1/policies', { name: 'Nothing', effect: 'deny' });
const answers = ['201, 201', '403 POLICY_DENIED, 201'];

async function prepared(acme: Developer) {
  const { agentId } = await registerAgent(acme);
  const { code } = await authorize(acme, agentId);
  const { id } = await authorize(acme, agentId, { autoApprove: false });
  return { agentId, code: String(code), id: String(id) };
}

test('an authorization request and a denying policy', () =>
  race({
    prepare: prepared,
    one: ({ acme }, { agentId }) =>
      acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', scopes: ['a:b'] }),
    other: deny,
    answers,
  }));
test('an approval and a denying policy', () =>
  race({
    prepare: prepared,
    one: ({ acme }, { id }) => acme('POST', `/v1/authorize/${id}/approve`, {}),
    other: deny,
    answers: ['200, 201', '403 POLICY_DENIED, 201'],
  }));
test('an exchange and a denying policy', () =>
  race({
    prepare: prepared,
    one: ({ acme }, { agentId, code }) => acme('POST', '/v1/token', { agentId, code }),
    other: deny,
    answers,
  }));
test('a refresh and a denying policy', () =>
  race({
    prepare: (acme) => grantTo(acme),
    one: ({ acme }, { agentId, refreshToken }) =>
      acme('POST', '/v1/token/refresh', { agentId, refreshToken }),
    other: deny,
    answers,
  }));
test('a delegation and a denying policy', () =>
  race({
    prepare: (acme) => grantTo(acme),
    one: ({ acme }, { agentId, grantToken }) =>
      acme('POST', '/v1/grants/delegate', {
        parentGrantToken: grantToken,
        subAgentId: agentId,
        scopes: ['calendar:read'],
      }),
    other: deny,
    answers,
  }));

const base64 = (text: string) => Buffer.from(text).toString('base64');
const bundle = { format: 'rego', version: '1', content: base64('one') };
const sync = ({ acme }: Side) => acme('POST', '/v1/policies/sync', bundle);

async function stored(acme: Developer) {
  const first = { ...bundle, version: '0' };
  const { bundleId } = (await acme('POST', '/v1/policies/sync', first)).json();
  await acme('POST', '/v1/policies/sync', { ...first, version: '0.1' });
  return { bundleId: String(bundleId) };
}

test('two syncs of a version with the same content', () =>
  race({ prepare: async () => ({}), one: sync, answers: ['201, 200', '200, 201'] }));
test('two syncs of a version with other content', () =>
  race({
    prepare: async () => ({}),
    one: sync,
    other: ({ acme }) => acme('POST', '/v1/policies/sync', { ...bundle, content: base64('two') }),
    answers: ['201, 409 CONFLICT', '409 CONFLICT, 201'],
  }));
test('an activation of a bundle, and a sync that activates another', () =>
  race({
    prepare: stored,
    one: ({ acme }, { bundleId }) => acme('POST', `/v1/policies/bundles/${bundleId}/activate`, {}),
    other: sync,
    answers: ['200, 201'],
  }));
test('two activations of a bundle', () =>
  race({
    prepare: stored,
    one: ({ acme }, { bundleId }) => acme('POST', `/v1/policies/bundles/${bundleId}/activate`, {}),
    answers: ['200, 200'],
  }));
test('two makings of the secret of Git notifications', () =>
  race({
    prepare: async () => ({}),
    one: ({ acme }) => acme('POST', '/v1/policies/sync/secret', {}),
    answers: ['201, 201'],
  }));

const manifest = (tools: object) => ({ $schema: 'x', connector: 'pay', version: '1', tools });

const nothing = async () => ({});
const first = async (acme: Developer) => {
  await acme('PUT', '/v1/manifests/pay', manifest({ list: 'read' }));
  return {};
};
const put =
  (tools: object) =>
  ({ acme }: Side) =>
    acme('PUT', '/v1/manifests/pay', manifest(tools));
const remove = ({ acme }: Side) => acme('DELETE', '/v1/manifests/pay');

/** The versions in order, without their times: each knows the one before by its pins. */
const look = async ({ acme }: Side) => {
  const { sha256, pins } = (await acme('GET', '/v1/manifests/pay')).json();
  return { sha256, pins };
};

test('two first manifests of a connector', () =>
  race({
    prepare: nothing,
    one: put({ list: 'read' }),
    other: put({ list: 'write' }),
    answers: ['201, 200', '200, 201'],
    look,
  }));
test('two new versions of a manifest', () =>
  race({
    prepare: first,
    one: put({ list: 'write' }),
    other: put({ list: 'admin', send: 'write' }),
    answers: ['200, 200'],
    look,
  }));
test('the same new version twice', () =>
  race({ prepare: first, one: put({ list: 'write' }), answers: ['200, 200'], look }));
test('a new version of a manifest, and its deletion', () =>
  race({
    prepare: first,
    one: put({ list: 'write' }),
    other: remove,
    answers: ['200, 204', '201, 204'],
    look,
  }));
test('two deletions of a manifest', () =>
  race({ prepare: first, one: remove, answers: ['204, 404 NOT_FOUND', '404 NOT_FOUND, 204'], look }));

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
