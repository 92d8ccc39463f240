import { test } from 'vitest';
import {
  claimSharesAcrossTenants,
  settleDelivery,
} from '../../src/features/record/webhooks/deliveries.repo.ts';
import { sealedSecrets, webhookSeals } from '../../src/features/record/webhooks/secrets.ts';
import { deliveriesOf, registerWebhook } from '../app/deliveries.ts';
import { grantTo, registerAgent } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import type { Developer, Service } from '../app/start-app.ts';

const { race } = interleaving({
  env: { PLAN_FREE_WEBHOOKS: '2', PLAN_FREE_AUDIT_APPENDS: '1', WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' },
});

const URL = 'http://127.0.0.1:9/hook';

test('two registrations of webhooks where there is room for one', () =>
  race({
    prepare: (acme) => registerWebhook(acme, URL),
    one: ({ acme }) => acme('POST', '/v1/webhooks', { url: URL, events: ['*'] }),
    answers: ['201, 402 PLAN_LIMIT_EXCEEDED', '402 PLAN_LIMIT_EXCEEDED, 201'],
  }));

const change =
  (members: object) =>
  ({ acme }: Side, { webhookId }: { webhookId: string }) =>
    acme('PATCH', `/v1/webhooks/${webhookId}`, members);
const remove = ({ acme }: Side, { webhookId }: { webhookId: string }) =>
  acme('DELETE', `/v1/webhooks/${webhookId}`);
const rotate = ({ acme }: Side, { webhookId }: { webhookId: string }) =>
  acme('POST', `/v1/webhooks/${webhookId}/rotate-secret`, {});
const hook = (acme: Developer) => registerWebhook(acme, URL);

test('two changes of a webhook', () =>
  race({
    prepare: hook,
    one: change({ status: 'disabled' }),
    other: change({ description: 'Other' }),
    answers: ['200, 200'],
  }));
test('a change of a webhook, and its deletion', () =>
  race({
    prepare: hook,
    one: change({ status: 'disabled' }),
    other: remove,
    answers: ['200, 204', '404 NOT_FOUND, 204'],
  }));
test('two deletions of a webhook', () =>
  race({ prepare: hook, one: remove, answers: ['204, 404 NOT_FOUND', '404 NOT_FOUND, 204'] }));
test('a rotation of a webhook’s secret, and its deletion', () =>
  race({ prepare: hook, one: rotate, other: remove, answers: ['200, 204', '404 NOT_FOUND, 204'] }));
test('an event, and the registration of a webhook for it', () =>
  race({
    prepare: async () => ({}),
    one: ({ acme }) => acme('POST', '/v1/agents', { name: 'Booker' }),
    other: ({ acme }) => acme('POST', '/v1/webhooks', { url: URL, events: ['agent.created'] }),
    answers: ['201, 201'],
  }));
async function delivered(acme: Developer) {
  const { webhookId } = await registerWebhook(acme, URL, ['agent.created']);
  await registerAgent(acme);
  const [delivery] = await deliveriesOf(acme, webhookId);
  return { webhookId, id: String(delivery?.id) };
}
test('a redelivery, and the deletion of the webhook', () =>
  race({
    prepare: delivered,
    one: ({ acme }, { webhookId, id }) =>
      acme('POST', `/v1/webhooks/${webhookId}/deliveries/${id}/redeliver`, {}),
    other: remove,
    answers: ['202, 204', '404 NOT_FOUND, 204'],
  }));

test('two entries where the month has room for one', () =>
  race({
    async prepare(acme) {
      const { agentId, did, grantId } = await grantTo(acme);
      return { agentId, agentDid: did, grantId, principalId: 'user_42', action: 'email.sent' };
    },
    one: ({ acme }, entry) => acme('POST', '/v1/audit/log', entry),
    answers: ['201, 402 PLAN_LIMIT_EXCEEDED', '402 PLAN_LIMIT_EXCEEDED, 201'],
  }));
test('two requests for the signed head of the chain', () =>
  race({
    prepare: (acme) => registerAgent(acme),
    one: ({ acme }) => acme('GET', '/v1/audit/head'),
    answers: ['200, 200'],
  }));

/** The endpoint's secrets, opened, in terms of what the rotations answered. */
async function secretsOf({ service, acme }: Side, known: readonly string[]) {
  const row = await service.db
    .selectFrom('webhookEndpoints')
    .select(['developerId', 'id', 'secret', 'previousSecret'])
    .where('developerId', '=', acme.developerId)
    .executeTakeFirstOrThrow();
  const seals = webhookSeals(service.keyRing);
  const owner = { developerId: row.developerId, webhookId: row.id };
  const opened = [row.secret, row.previousSecret].map((sealed) => sealed && seals.open(sealed, owner));
  return { isTold: opened.map((each) => known.includes(String(each))), areTwo: opened[0] !== opened[1] };
}

test('two rotations of a webhook’s secret', () =>
  race({
    prepare: async (acme) => ({ ...(await hook(acme)), told: [] as string[] }),
    async one(side, held) {
      const answer = await rotate(side, held);
      held.told.push(answer.json().secret);
      return answer;
    },
    answers: ['200, 200'],
    look: (side, { told }) => secretsOf(side, told),
  }));

test('a rotation of a webhook’s secret, and a process that starts with another sealing key', () =>
  race({
    prepare: async (acme, service) => {
      const held = await hook(acme);
      await service.db
        .updateTable('webhookEndpoints')
        .set({ sealKeyId: 'former' })
        .where('developerId', '=', acme.developerId)
        .execute();
      return { ...held, told: [] as string[] };
    },
    async one(side, held) {
      const answer = await rotate(side, held);
      held.told.push(answer.json().secret);
      return answer;
    },
    async other({ service: { db, keyRing } }) {
      await sealedSecrets(keyRing).prepare({ db, isProduction: true, warn: () => {} });
      return undefined;
    },
    answers: ['200, done'],
    look: (side, { told }) => secretsOf(side, told),
  }));

/** Leases the developer's due deliveries at this many seconds from now. */
const claim = ({ service: { db, clock }, acme: { developerId } }: Side, after = 0) =>
  claimSharesAcrossTenants(db, new Date(clock().getTime() + after * 1000), true, [
    { developerId, after: '', places: 5 },
  ]);

async function leased(acme: Developer, service: Service) {
  const held = await delivered(acme);
  const [delivery] = await claim({ acme, service });
  if (!delivery) throw new Error('Nothing was leased.');
  return { ...held, delivery };
}
type Leased = Awaited<ReturnType<typeof leased>>;

const DONE = {
  nextAttemptAt: null,
  lastError: null,
  lastStatusCode: 204,
  isPrompt: true,
  isGone: false,
} as const;
async function settle({ service: { db, clock } }: Side, { delivery }: Leased): Promise<undefined> {
  const time = { beganAt: clock(), durationMs: 1 };
  await settleDelivery(db, delivery, clock(), { status: 'delivered', ...DONE }, time);
}

/** Leases in a transaction that stays open for a moment. */
async function claimSlowly({ service, acme }: Side): Promise<undefined> {
  await service.db.transaction().execute((db) => claim({ service: { ...service, db }, acme }));
}

test('two processes that look for several deliveries of a new webhook, which gets one at a time', () =>
  race({
    async prepare(acme) {
      const held = await delivered(acme);
      await registerAgent(acme, 'Another');
      return held;
    },
    one: claimSlowly,
    answers: ['done, done'],
  }));
test('two processes that look for deliveries', () =>
  race({
    prepare: delivered,
    one: async (side) => void (await claim(side)),
    answers: ['done, done'],
  }));
test('the outcome of an attempt, and a process that takes the delivery over', () =>
  race({
    prepare: leased,
    one: settle,
    other: async (side) => void (await claim(side, 60)),
    answers: ['done, done'],
  }));
test('the outcome of an attempt, and the deletion of the webhook', () =>
  race({ prepare: leased, one: settle, other: remove, answers: ['done, 204'] }));
test('the outcome of an attempt, and a redelivery', () =>
  race({
    prepare: leased,
    one: settle,
    other: ({ acme }, { webhookId, id }) =>
      acme('POST', `/v1/webhooks/${webhookId}/deliveries/${id}/redeliver`, {}),
    answers: ['done, 202'],
  }));
