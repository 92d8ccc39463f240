import { describe, expect, test } from 'vitest';
import { rotateKeys } from '../../src/features/vault/credentials/rotate.ts';
import { openEnvelope } from '../../src/platform/envelope.ts';
import { grantTo, openSession } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { onThisMachine, proxied, putProfile, through, untilWritten } from '../app/proxy.ts';
import { startReceiver } from '../app/receiving.ts';
import { send } from '../app/repeating.ts';
import type { Developer, Service } from '../app/start-app.ts';
import * as vault from '../app/vault.ts';
import {
  exchange as exchangeCredential,
  storeCredential,
  upstream as stored,
  upstream,
} from '../app/vault.ts';

const [FORMER, CURRENT] = ['a1'.repeat(32), 'b2'.repeat(32)];
const { race } = interleaving({
  env: { VAULT_ENCRYPTION_KEY: CURRENT, VAULT_ENCRYPTION_KEYS_PREVIOUS: FORMER },
});

/** A credential that was exchanged, so that another exchange within the minute sets no time of a last use. */
async function withCredential(acme: Developer, service: Service) {
  const { id } = await vault.storeCredential(acme);
  const held = await grantTo(acme, { scopes: ['github:read'] });
  expect((await vault.exchange(service, held.grantToken)).statusCode).toBe(200);
  const session = String((await openSession(acme)).json().sessionToken);
  return { ...held, id: String(id), session };
}

const rowOf = ({ db }: Service, { developerId }: Developer) =>
  db.selectFrom('vaultCredentials').selectAll().where('developerId', '=', developerId).executeTakeFirst();

/** A credential that a former vault key seals. */
async function withFormerKey(acme: Developer, service: Service) {
  const held = await withCredential(acme, service);
  const row = await rowOf(service, acme);
  const keys = service.keyRing.vault;
  const id = keys.ids.find((each) => each !== keys.current?.id);
  const key = keys.find(String(id));
  const owner = [acme.developerId, 'user_42', 'github'] as const;
  const envelope = openEnvelope(keys, String(row?.dataKey), owner);
  if (!id || !key || !envelope) throw new Error('The service has no former key, or does not open the row.');
  const { dataKey, keyId } = envelope.under({ id, key });
  await service.db
    .updateTable('vaultCredentials')
    .set({ dataKey, keyId })
    .where('developerId', '=', acme.developerId)
    .execute();
  return held;
}

type Held = Awaited<ReturnType<typeof withCredential>>;

const exchange = ({ service }: Side, { grantToken }: Held) => vault.exchange(service, grantToken);
const store = ({ acme }: Side) =>
  acme('POST', '/v1/vault/credentials', { ...vault.upstream, accessToken: 'upstream-access-2' });
const remove = ({ acme }: Side, { id }: Held) => acme('DELETE', `/v1/vault/credentials/${id}`);
const revoke = ({ acme }: Side, { grantId }: Held) => acme('DELETE', `/v1/grants/${grantId}`);
const revokeToken = ({ acme }: Side, { grantToken }: Held) =>
  acme('POST', '/v1/tokens/revoke', { token: grantToken });
const revokeAgent = ({ acme }: Side, { agentId }: Held) => acme('DELETE', `/v1/agents/${agentId}`);
const suspendAgent = ({ acme }: Side, { agentId }: Held) =>
  acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
const endAll = ({ service }: Side, { session }: Held) =>
  service.calling(session)('DELETE', '/v1/principal/grants');
const rotate = async ({ service }: Side) => {
  const warn = (message: string) => expect.unreachable(message);
  await rotateKeys({ ...service, vault: service.keyRing.vault, warn }, AbortSignal.timeout(60_000));
  return undefined;
};

/** The key and the access token of the stored credential, as the service opens it. */
const opened = async ({ service, acme }: Side) => {
  const row = await rowOf(service, acme);
  if (!row) return 'none';
  const owner = [acme.developerId, row.principalId, row.service] as const;
  const envelope = openEnvelope(service.keyRing.vault, row.dataKey, owner);
  return [row.keyId === envelope?.keyId, envelope?.open('access_token', row.accessToken)];
};

test('two stores of one credential', () =>
  race({ prepare: async () => ({}), one: store, answers: ['201, 201'], look: opened }));
test.each([
  ['the revocation of its grant', revoke, '204'],
  ['the revocation of its token', revokeToken, '204'],
  ['the end of its agent', revokeAgent, '204'],
  ['the suspension of its agent', suspendAgent, '200'],
  ['the end of everything of the person', endAll, '200'],
] as const)('V3 an exchange and %s', (_, other, ended) =>
  race({
    prepare: withCredential,
    one: exchange,
    other,
    answers: [`200, ${ended}`, `401 UNAUTHORIZED, ${ended}`],
  }),
);
test('an exchange and the deletion of the credential', () =>
  race({
    prepare: withCredential,
    one: exchange,
    other: remove,
    answers: ['200, 204', '404 NOT_FOUND, 204'],
  }));
test('an exchange and another store of the credential', () =>
  race({ prepare: withCredential, one: exchange, other: store, answers: ['200, 201'], look: opened }));

test('V6 an exchange that takes a credential to the current vault key, and another store of it', () =>
  race({ prepare: withFormerKey, one: exchange, other: store, answers: ['200, 201'], look: opened }));
test('V6 two rotations of the vault key', () =>
  race({ prepare: withFormerKey, one: rotate, answers: ['done, done'], look: opened }));
test('V6 a rotation of the vault key, and a store', () =>
  race({ prepare: withFormerKey, one: rotate, other: store, answers: ['done, 201'], look: opened }));
test('a rotation of the vault key, and a deletion', () =>
  race({ prepare: withFormerKey, one: rotate, other: remove, answers: ['done, 204'], look: opened }));

describe('credentials', () => {
  const { race } = interleaving({ env: { PLAN_FREE_VAULT_CREDENTIALS: '2' } });

  async function withCredential(acme: Developer, service: Service) {
    const { id } = await storeCredential(acme);
    const held = { id: String(id), ...(await grantTo(acme, { scopes: ['github:read'] })) };
    await exchangeCredential(service, held.grantToken); // the times of its last use stay as they are for a minute
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
});

describe('the proxy', () => {
  const { race } = interleaving({ env: onThisMachine });
  type Receiver = Awaited<ReturnType<typeof startReceiver>>;

  let made = 0;

  /** A call that went through, so that another sets no time of a last use. All runs of a race have one upstream. */
  const withCall = (upstream: Receiver) => async (acme: Developer, service: Service) => {
    made += 1;
    const accessToken = `upstream-access-${made}`;
    const held = { ...(await proxied(acme, { upstream, credential: { accessToken } })), accessToken };
    expect((await call({ service, acme }, held)).statusCode).toBe(200);
    return held;
  };
  type Held = Awaited<ReturnType<typeof proxied>> & { readonly accessToken: string };

  /** A call, until its row says what came of it; the duration is random. */
  async function call({ service, acme }: Side, { grantToken }: Pick<Held, 'grantToken'>) {
    const answer = await through(service, grantToken, '/repos/a');
    const calls = service.db
      .updateTable('vaultProxyCalls')
      .set({ durationMs: 0 })
      .where('developerId', '=', acme.developerId);
    if (answer.statusCode === 200) await untilWritten(service, acme);
    await calls.execute();
    return answer;
  }
  const revoke = ({ acme }: Side, { grantId }: Held) => acme('DELETE', `/v1/grants/${grantId}`);
  const revokeToken = ({ acme }: Side, { grantToken }: Held) =>
    acme('POST', '/v1/tokens/revoke', { token: grantToken });
  const suspend = ({ acme }: Side, { agentId }: Held) =>
    acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
  const stop = ({ acme }: Side) => acme('POST', '/v1/me/stop', {});
  const remove = ({ acme }: Side, { storedId }: Held) => acme('DELETE', `/v1/vault/credentials/${storedId}`);
  const close = ({ acme }: Side) => acme('DELETE', '/v1/vault/proxy-profiles/github');
  const narrow = ({ acme }: Side, { origin }: Held) =>
    putProfile(acme, origin, { rules: [{ id: 'one', methods: ['GET'], path: '/other', unmapped: true }] });
  const store = ({ acme }: Side, { accessToken }: Held) =>
    acme('POST', '/v1/vault/credentials', { ...stored, accessToken: `${accessToken}-later` });

  /** The credentials of the requests that the upstream saw: as many as there are entries. */
  const look = async ({ service, acme }: Side, { receiver, accessToken }: Held) => {
    const entries = await service.db
      .selectFrom('auditEntries')
      .select('action')
      .where('developerId', '=', acme.developerId)
      .where('action', '=', 'vault.proxy.called')
      .execute();
    const sent = receiver.received.filter(({ headers }) =>
      [`Bearer ${accessToken}`, `Bearer ${accessToken}-later`].includes(String(headers.authorization)),
    );
    expect(sent.length).toBe(entries.length);
    return sent.map(({ headers }) => headers.authorization?.endsWith('-later'));
  };

  test.each([
    ['the revocation of its grant', revoke, '204', '401 UNAUTHORIZED'],
    ['the revocation of its token', revokeToken, '204', '401 UNAUTHORIZED'],
    ['the suspension of its agent', suspend, '200', '401 UNAUTHORIZED'],
    ['the stop of the account', stop, '200', '401 UNAUTHORIZED'],
    ['the deletion of the credential', remove, '204', '404 NOT_FOUND'],
    ['the end of the profile', close, '204', '403 PROXY_DENIED no_profile'],
    ['a profile without its rule', narrow, '200', '403 PROXY_DENIED no_rule'],
  ] as const)('V15: a call through the proxy and %s', async (_, other, done, refused) => {
    const prepare = withCall(await startReceiver());
    await race({ prepare, one: call, other, answers: [`200, ${done}`, `${refused}, ${done}`], look });
  });
  test('a call through the proxy and another store of the credential', async () => {
    const prepare = withCall(await startReceiver());
    await race({ prepare, one: call, other: store, answers: ['200, 201'], look });
  });
});
