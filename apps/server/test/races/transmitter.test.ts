import { sql } from 'kysely';
import { describe, expect, test } from 'vitest';
import { type AccountsServer, startAccountsServer } from '../app/accounts-server.ts';
import { authorize, grantTo } from '../app/flow.ts';
import { interleaving, type Side } from '../app/interleaving.ts';
import { askForToken, newReceiver, newStream, pushTo, RISC } from '../app/receiving.ts';
import { besideProvider } from '../app/signing-on.ts';
import type { Developer, Service } from '../app/start-app.ts';
import { transmitterAt } from '../app/transmitter.ts';

const { race } = interleaving();

async function listening(acme: Developer, service: Service) {
  const receiver = await newReceiver(service, acme, { staticToken: true });
  const { stream_id } = await newStream(receiver);
  return { ...receiver, stream_id: String(stream_id) };
}
type Listening = Awaited<ReturnType<typeof listening>>;

const asReceiver = ({ service }: Side, { accessToken }: Listening) => service.calling(accessToken);
const path = ({ receiverId }: Listening) => `/v1/ssf/receivers/${receiverId}`;

const rotate = ({ acme }: Side, held: Listening) =>
  acme('POST', `${path(held)}/rotate-secret`, { graceSeconds: 0 });
const rotateLate = ({ acme }: Side, held: Listening) =>
  acme('POST', `${path(held)}/rotate-secret`, { graceSeconds: 60 });
const askToken = ({ service }: Side, held: Listening) => askForToken(service, held);
const removeReceiver = ({ acme }: Side, held: Listening) => acme('DELETE', path(held));
const disable = (side: Side, held: Listening) =>
  asReceiver(side, held)('POST', '/ssf/status', { stream_id: held.stream_id, status: 'disabled' });
const verify = (side: Side, held: Listening) =>
  asReceiver(side, held)('POST', '/ssf/verification', { stream_id: held.stream_id });
const removeStream = (side: Side, held: Listening) =>
  asReceiver(side, held)('DELETE', `/ssf/streams?stream_id=${held.stream_id}`);
const poll = (side: Side, held: Listening) =>
  asReceiver(side, held)('POST', `/ssf/poll/${held.stream_id}`, { returnImmediately: true });
const changeDelivery = (side: Side, held: Listening) =>
  asReceiver(side, held)('PATCH', '/ssf/streams', {
    ...{ stream_id: held.stream_id, events_requested: [`${RISC}/account-disabled`] },
    ...pushTo('https://siem.acme.test/events'),
  });
const narrow = ({ acme }: Side, held: Listening) =>
  acme('PATCH', path(held), { events: [`${RISC}/account-enabled`] });

/** The signals of the stream in their order, and their leases. */
const waiting = async ({ service: { db } }: Side, { stream_id }: Listening) => {
  const { rows } = await sql`select status, leased_until, event_type from webhook_deliveries
    where webhook_id = ${stream_id} order by id`.execute(db);
  return rows;
};

test('M19: the rotation of a secret, and a token request', () =>
  race({
    prepare: listening,
    one: rotate,
    other: askToken,
    answers: ['200, 200', '200, 401'],
  }));
test('M19: the rotation of a secret with a grace, and a token request', () =>
  race({ prepare: listening, one: rotateLate, other: askToken, answers: ['200, 200'] }));
test('the deletion of a receiver, and a token request', () =>
  race({
    prepare: listening,
    one: removeReceiver,
    other: askToken,
    answers: ['204, 200', '204, 401'],
  }));
test('a verification, and the disabling of its stream', () =>
  race({
    prepare: listening,
    one: verify,
    other: disable,
    answers: ['204, 200', '400 BAD_REQUEST, 200'],
    look: waiting,
  }));
test('a verification, and the deletion of its stream', () =>
  race({
    prepare: listening,
    one: verify,
    other: removeStream,
    answers: ['204, 204', '404 NOT_FOUND, 204'],
  }));
test('two verifications of a stream', () =>
  race({ prepare: listening, one: verify, answers: ['204, 429 RATE_LIMITED', '429 RATE_LIMITED, 204'] }));
test("a change of a receiver's ceiling, and of a stream", () =>
  race({ prepare: listening, one: narrow, other: changeDelivery, answers: ['200, 200'] }));
test("a change of a receiver's ceiling, and the disabling of a stream", () =>
  race({ prepare: listening, one: narrow, other: disable, answers: ['200, 200'] }));

async function withSignal(acme: Developer, service: Service) {
  const held = await listening(acme, service);
  const { grantId } = await grantTo(acme);
  await acme('DELETE', `/v1/grants/${grantId}`);
  return held;
}

test('two pollers get each signal once', async () => {
  const given = new Map<string, number>();
  const counting = async (side: Side, held: Listening) => {
    const answer = await poll(side, held);
    for (const jti of Object.keys(answer.json().sets)) given.set(jti, (given.get(jti) ?? 0) + 1);
    return answer;
  };
  await race({ prepare: withSignal, one: counting, answers: ['200, 200'], look: waiting });
  expect(given.size).toBeGreaterThan(0);
  expect([...given.values()]).toEqual([...given].map(() => 1));
});
test('a poll, and the deletion of its stream', () =>
  race({
    prepare: withSignal,
    one: poll,
    other: removeStream,
    answers: ['200, 204', '404 NOT_FOUND, 204'],
  }));

/** A stream that nobody has polled for a week. */
async function inactive(acme: Developer, service: Service) {
  const held = await listening(acme, service);
  await service.db
    .updateTable('ssfStreams')
    .set({ polledAt: new Date(service.clock().getTime() - 604_800_000) })
    .where('id', '=', held.stream_id)
    .execute();
  // The care goes from stream to stream, and those of the runs before would be further steps.
  await service.db.deleteFrom('ssfStreams').where('id', '<>', held.stream_id).execute();
  return held;
}
const care = async ({ service }: Side): Promise<undefined> => {
  await service.runJob('care of signal streams');
};

test('two processes that pause an inactive stream', () =>
  race({ prepare: inactive, one: care, answers: ['done, done'], look: waiting }));
test('the pause of an inactive stream, and a poll', () =>
  race({ prepare: inactive, one: care, other: poll, answers: ['done, 200'] }));
test('the pause of an inactive stream, and its disabling', () =>
  race({ prepare: inactive, one: care, other: disable, answers: ['done, 200'], look: waiting }));
test('the pause of an inactive stream, and a change of its delivery', () =>
  race({ prepare: inactive, one: care, other: changeDelivery, answers: ['done, 200'] }));
test('the pause of an inactive stream, and its deletion', () =>
  race({ prepare: inactive, one: care, other: removeStream, answers: ['done, 204'] }));

describe('signals', () => {
  const { race } = interleaving(besideProvider());

  /** A transmitter for all runs of a race, so that they end alike. */
  function disablingAt(provider: AccountsServer) {
    let made: ReturnType<typeof transmitterAt> | undefined;
    return async (acme: Developer, service: Service) => {
      made ??= transmitterAt(service, provider);
      return disabling(acme, service, provider, await made);
    };
  }

  /** A person with a grant and a code, and a signal that disables them, which nobody has sent yet. */
  async function disabling(
    acme: Developer,
    service: Service,
    provider: AccountsServer,
    transmitter: Awaited<ReturnType<typeof transmitterAt>>,
  ) {
    const { id: connectionId } = (
      await acme('POST', '/v1/sso/connections', {
        ...{ name: 'Customer', protocol: 'oidc', issuerUrl: provider.issuer },
        ...{ clientId: 'client', clientSecret: 'secret' },
      })
    ).json();
    const { token } = (await acme('POST', '/v1/scim/tokens', { label: 'Okta' })).json();
    const { id: userId } = (
      await service.calling(token)('POST', '/scim/v2/Users', { userName: 'user_42' })
    ).json();
    const identity = { connectionId, subject: `${provider.issuer}|ada`, userId };
    await service.db
      .insertInto('ssoIdentities')
      .values({ ...identity, developerId: acme.developerId, createdAt: service.clock() })
      .execute();
    const held = await grantTo(acme, { scopes: ['calendar:read'] });
    const { code } = await authorize(acme, held.agentId);
    const source = await transmitter.listen(acme, connectionId);
    const set = await transmitter.newSet(source, `${RISC}/account-disabled`, {
      claims: { jti: 'signal' },
    });
    return { ...held, code: String(code), source, set, token: String(token), userId: String(userId) };
  }
  type Held = Awaited<ReturnType<typeof disabling>>;

  const signal = ({ service }: Side, { source, set }: Held) =>
    service.app.inject({
      method: 'POST',
      url: new URL(source.endpointUrl).pathname,
      headers: { 'content-type': 'application/secevent+jwt', authorization: source.authorizationHeader },
      payload: set,
    });

  test('a signal that is sent twice at once', async () =>
    race({ prepare: disablingAt(await startAccountsServer()), one: signal, answers: ['202, 202'] }));

  test('a signal that disables a person, and the exchange of a code', async () =>
    race({
      prepare: disablingAt(await startAccountsServer()),
      one: signal,
      other: ({ acme }, { code, agentId }) => acme('POST', '/v1/token', { code, agentId }),
      answers: ['202, 201', '202, 409 PRINCIPAL_INACTIVE'],
    }));

  test('a signal that disables a person, and the same by SCIM', async () =>
    race({
      prepare: disablingAt(await startAccountsServer()),
      one: signal,
      other: ({ service }, { token, userId }) =>
        service.calling(token)('PATCH', `/scim/v2/Users/${userId}`, {
          Operations: [{ op: 'replace', path: 'active', value: false }],
        }),
      answers: ['202, 200'],
    }));
});
