import { expect, test } from 'vitest';
import { interleaving, type Side } from '../app/interleaving.ts';
import { onThisMachine, proxied, putProfile, through, untilWritten } from '../app/proxy.ts';
import { startReceiver } from '../app/receiver.ts';
import type { Developer, Service } from '../app/start-app.ts';
import { upstream as stored } from '../app/vault.ts';

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
