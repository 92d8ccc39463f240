import { createHash } from 'node:crypto';
import { verifyChain } from '@behest/protocol/audit-chain';
import { test } from 'vitest';
import vectors from '../../src/features/service/keys/keys.vectors.json' with { type: 'json' };
import { interleaving, type Side } from '../app/interleaving.ts';
import { ADMIN_API_KEY, type Developer, type Service } from '../app/start-app.ts';

const [DELAY, HOUR] = [900, 3600]; // seconds
const { race } = interleaving({
  env: {
    SIGNING_KEY_STORE: 'postgres',
    JWT_SIGNING_ALG: 'ES256',
    EC_PRIVATE_KEY: vectors.ec.privateKey,
    SIGNING_KEY_ACTIVATION_DELAY_SECONDS: String(DELAY),
    SIGNING_KEY_ROTATION_SECONDS: String(HOUR),
  },
});

const operatorAt = ({ calling }: Service) => calling(ADMIN_API_KEY);
const entriesAt = async (service: Service) =>
  (await operatorAt(service)('GET', '/v1/admin/entries?limit=500')).json().entries;

/** Lets keys have been published so long ago: the clock stands still for both instances. */
async function age({ db, clock }: Service, state: 'pending' | 'active', seconds: number): Promise<void> {
  const publishedAt = new Date(clock().getTime() - seconds * 1000);
  await db.updateTable('signingKeys').set({ publishedAt }).where('state', '=', state).execute();
}
/** A store in which no key waits. */
async function settled(_: Developer, service: Service) {
  await age(service, 'pending', DELAY);
  await service.runJob('signing_keys');
  return { entries: (await entriesAt(service)).length };
}
/** The same, an hour after the last rotation. */
async function due(acme: Developer, service: Service) {
  const held = await settled(acme, service);
  await age(service, 'active', HOUR);
  return held;
}
/** A store in which a key has waited for its whole delay. */
async function waiting(acme: Developer, service: Service) {
  const held = await settled(acme, service);
  const { kid } = (await rotates({ service })).json();
  await age(service, 'pending', DELAY);
  return { ...held, kid: String(kid) };
}

const rotates = ({ service }: Pick<Side, 'service'>) =>
  operatorAt(service)('POST', '/v1/admin/keys/rotate', {});
async function keeps({ service }: Side): Promise<undefined> {
  await service.runJob('signing_keys');
}
/** How many keys are in use, what was recorded meanwhile, and whether the operator's chain is whole. */
async function look({ service }: Side, { entries: before }: { entries: number }) {
  const { keys } = (await operatorAt(service)('GET', '/v1/admin/keys')).json();
  const inUse = keys
    .filter(({ state }: { state: string }) => state === 'pending' || state === 'active')
    .map(({ alg, state }: { alg: string; state: string }) => `${alg} ${state}`)
    .sort();
  const entries = await entriesAt(service);
  const turns = entries.slice(before).map(({ metadata: { from, to } }: TurnEntry) => `${from} to ${to}`);
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  return { inUse, turns, valid: verifyChain(entries, {}, sha256).valid };
}
interface TurnEntry {
  readonly metadata: { readonly from: string | null; readonly to: string };
}

test('J21 two operators rotate the key, at two instances', () =>
  race({ prepare: settled, one: rotates, answers: ['200, 200'], look }));
test('J21 two instances whose schedule is due', () =>
  race({ prepare: due, one: keeps, answers: ['done, done'], look }));
test('J21 an operator rotates the key when the schedule is due', () =>
  race({ prepare: due, one: rotates, other: keeps, answers: ['200, done'], look }));
test('J21 two instances record one turn', () =>
  race({ prepare: waiting, one: keeps, answers: ['done, done'], look }));
test('J21 a key is withdrawn when its time to sign has come', () =>
  race({
    prepare: waiting,
    one: ({ service }, { kid }) => operatorAt(service)('POST', `/v1/admin/keys/${kid}/retire`, {}),
    other: keeps,
    // The turn is due in either order: the withdrawal records it, and finds a key that signs.
    answers: ['409 CONFLICT, done'],
    look,
  }));
