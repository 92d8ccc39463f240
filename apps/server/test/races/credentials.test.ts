import { test } from 'vitest';
import { grantTo } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { send } from '../app/repeating.ts';
import type { Developer, Service } from '../app/start-app.ts';
import { exchange, storeCredential, upstream } from '../app/vault.ts';

const { race } = interleaving({ env: { PLAN_FREE_VAULT_CREDENTIALS: '2' } });

async function withCredential(acme: Developer, service: Service) {
  const { id } = await storeCredential(acme);
  const held = { id: String(id), ...(await grantTo(acme, { scopes: ['github:read'] })) };
  await exchange(service, held.grantToken); // the times of its last use stay as they are for a minute
  return held;
}
type Stored = Awaited<ReturnType<typeof withCredential>>;

/** In a larger transaction, which is still open when a rival comes. */
const storing = (members: object) => (side: Side) =>
  send(side.service, {
    apiKey: side.acme.apiKey,
    url: '/v1/vault/credentials',
    body: { ...upstream, ...members },
    key: crypto.randomUUID(),
  });
const remove = ({ acme }: Side, { id }: Stored) => acme('DELETE', `/v1/vault/credentials/${id}`);
const store = storing({ accessToken: 'upstream-access-2' });

test('two stores of services that differ in case alone', () =>
  race({
    prepare: async () => ({}),
    one: store,
    other: storing({ service: 'GitHub' }),
    answers: ['201, 409 CONFLICT', '409 CONFLICT, 201'],
  }));
test('two stores where the plan has room for one', () =>
  race({
    prepare: (acme) => storeCredential(acme, { service: 'gitlab' }),
    one: store,
    other: storing({ service: 'slack' }),
    answers: ['201, 402 PLAN_LIMIT_EXCEEDED', '402 PLAN_LIMIT_EXCEEDED, 201'],
  }));
test('a replacement of a credential, and its deletion', () =>
  race({ prepare: withCredential, one: store, other: remove, answers: ['201, 204'] }));
test('two deletions of a credential', () =>
  race({ prepare: withCredential, one: remove, answers: ['204, 404 NOT_FOUND', '404 NOT_FOUND, 204'] }));
