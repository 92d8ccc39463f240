import { describe, expect, test } from 'vitest';
import { act, detect } from '../../../../test/app/anomalies.ts';
import { startAsserting, trustingDeveloper } from '../../../../test/app/asserting.ts';
import {
  authorize,
  entriesOf,
  grantTo,
  hold,
  letGo,
  openSession,
  registerAgent,
  sharedSandbox,
  startSandbox,
} from '../../../../test/app/flow.ts';
import { provisionerOf } from '../../../../test/app/scim.ts';
import type { Developer, Service } from '../../../../test/app/start-app.ts';
import { CAEP, linked, startSignalling } from '../../../../test/app/transmitter.ts';

const join = sharedSandbox();

const scopes = ['payments:mpp:data'];
const category = 'data';
type Granted = Awaited<ReturnType<typeof grantTo>>;
type Stated = Pick<Granted, 'agentId' | 'grantId'>;

async function passport(acme: Developer, { agentId, grantId }: Stated, parentPassportId?: string) {
  const answer = await acme('POST', '/v1/passport/issue', {
    ...{ agentId, grantId, allowedMPPCategories: [category], ...(parentPassportId && { parentPassportId }) },
    maxTransactionAmount: { amount: 5, currency: 'USD' },
  });
  expect(answer.statusCode, answer.body).toBe(201);
  return String(answer.json().passportId);
}

/**
 * A passport about a grant that will end, and below it: one about a grant that lives, one about the first grant again, and
 * one about the grant that lives below that. `free` is about the grant that lives too, and below none.
 */
async function chainBelow(acme: Developer, ending: Stated) {
  const living = await grantTo(acme, { scopes, principalId: 'living' });
  const top = await passport(acme, ending);
  const below = await passport(acme, living, top);
  const own = await passport(acme, ending, below);
  const lowest = await passport(acme, living, own);
  const free = await passport(acme, living);
  return { living, ids: [top, below, own, lowest, free], fallen: [below, lowest] };
}

const statesOf = (acme: Developer, ids: readonly string[]) =>
  Promise.all(
    ids.map(async (id) => (await acme('GET', `/v1/passport/${encodeURIComponent(id)}`)).json().status),
  );
const credentialOf = (passportId: string) => passportId.replace('urn:behest:passport:', 'vc_');
const sorted = (values: readonly unknown[]) => values.map(String).sort();

/** Those about the grant that lives are told one by one; those about the grant that ended are told with its end. */
async function mustTell(acme: Developer, { living, ids, fallen }: Awaited<ReturnType<typeof chainBelow>>) {
  expect(await statesOf(acme, ids)).toEqual(['revoked', 'revoked', 'revoked', 'revoked', 'active']);
  const entries = await entriesOf(acme, 'passport.revoked');
  expect(sorted(entries.map(({ metadata }) => metadata.credentialId))).toEqual(
    sorted(fallen.map(credentialOf)),
  );
  const { events } = (await acme('GET', '/v1/events?types=passport.revoked')).json();
  expect(sorted(events.map(({ data }: { data: { credentialId: string } }) => data.credentialId))).toEqual(
    sorted(fallen.map(credentialOf)),
  );
  const { agentId, grantId } = living;
  const agentDid = (await acme('GET', `/v1/agents/${agentId}`)).json().did;
  expect(agentDid).toMatch(/^did:/);
  for (const entry of entries)
    expect(entry).toMatchObject({ agentId, agentDid, grantId, principalId: 'living' });
  for (const { data } of events) expect(data).toMatchObject({ agentId, grantId, principalId: 'living' });
  expect((await acme('GET', `/v1/grants/${grantId}`)).json().status).toBe('active');
}

interface Ending {
  readonly service: Service;
  readonly acme: Developer;
  readonly granted: Granted & { readonly code: string };
}

const principal = async ({ service, acme }: Ending) =>
  service.calling((await openSession(acme, 'ending')).json().sessionToken);

const WAYS: Readonly<Record<string, (ending: Ending) => Promise<unknown>>> = {
  'by the developer': ({ acme, granted }) => acme('DELETE', `/v1/grants/${granted.grantId}`),
  'with its agent': ({ acme, granted }) => acme('DELETE', `/v1/agents/${granted.agentId}`),
  'by its person': async (ending) =>
    (await principal(ending))('DELETE', `/v1/principal/grants/${ending.granted.grantId}`),
  'with all grants of its person': async (ending) =>
    (await principal(ending))('DELETE', '/v1/principal/grants'),
  'because its code came again': async ({ service, acme, granted: { code, agentId } }) => {
    service.advance(31);
    return acme('POST', '/v1/token', { code, agentId });
  },
  'because the person left': async ({ service, acme }) => {
    const idp = await provisionerOf(service, acme);
    const { id } = (await idp('POST', '/Users', { userName: 'ending' })).json();
    await idp('DELETE', `/Users/${id}`);
    const [left] = await entriesOf(acme, 'principal.offboarded');
    expect(left?.metadata).toMatchObject({ grantsRevoked: 1 });
  },
  'because of an anomaly': async ({ acme, granted }) => {
    const condition = { timeWindow: '1h', threshold: 2, actions: ['mail.*'] };
    const rule = { ruleId: 'mails', name: 'Mails', response: 'revoke_grants', condition };
    await acme('POST', '/v1/anomaly/rules', rule);
    await act(acme, granted, 3, { principalId: 'ending' });
    expect(await detect(acme)).toMatchObject({ autoRevokedGrants: 1 });
  },
};

describe('P4: the passports below those of a grant are told each', () => {
  test.each(Object.entries(WAYS))('when the grant ends %s', async (_, end) => {
    const { acme, service } = await startSandbox();
    const { agentId } = await registerAgent(acme);
    const { code } = await authorize(acme, agentId, { scopes, principalId: 'ending' });
    const granted = { ...(await acme('POST', '/v1/token', { code, agentId })).json(), agentId, code };
    const { did } = (await acme('GET', `/v1/agents/${agentId}`)).json();
    const chain = await chainBelow(acme, granted);

    await end({ service, acme, granted: { ...granted, did } });

    await mustTell(acme, chain);
  });

  test('when the token ends with which the grant was delegated, or the grant above it does', async () => {
    for (const end of ['token', 'grant'] as const) {
      const { acme } = await join();
      const root = await grantTo(acme, { scopes });
      const { agentId } = await registerAgent(acme, 'Helper');
      const body = { parentGrantToken: root.grantToken, subAgentId: agentId, scopes, expiresIn: '1h' };
      const { grantId } = (await acme('POST', '/v1/grants/delegate', body)).json();
      const chain = await chainBelow(acme, { agentId, grantId });

      if (end === 'token') await acme('POST', '/v1/tokens/revoke', { token: root.grantToken });
      else await acme('DELETE', `/v1/grants/${root.grantId}`);

      await mustTell(acme, chain);
    }
  });

  test('when a provider ends the session of the person', async () => {
    const { acme, connection, transmitter, source } = await linked(await startSignalling());
    const chain = await chainBelow(acme, await grantTo(acme, { scopes, principalId: 'ada' }));
    await transmitter.listen(acme, connection.id, { onSessionRevoked: 'all' });

    expect((await transmitter.send(source, `${CAEP}/session-revoked`)).statusCode).toBe(202);

    await mustTell(acme, chain);
    const [received] = await entriesOf(acme, 'signal.received');
    expect(received?.metadata).toMatchObject({ grantsRevoked: 1 });
  });

  test('when the rule of a provider ends by which the grant was given', async () => {
    const { service, provider } = await startAsserting();
    const { acme, token, rulePath } = await trustingDeveloper(service, provider, {
      rule: { scopes, defaultScopes: scopes },
    });
    const { grant_id: grantId } = (await token())['urn:service:grant'];
    const { agentId } = (await acme('GET', `/v1/grants/${grantId}`)).json();
    const chain = await chainBelow(acme, { agentId, grantId });

    expect((await acme('DELETE', rulePath)).statusCode).toBe(204);

    await mustTell(acme, chain);
  });

  test('and none is told twice: not with the next end, and not where all grants end', async () => {
    const { acme } = await join();
    const ending = await grantTo(acme, { scopes });
    const { living } = await chainBelow(acme, ending);
    await acme('DELETE', `/v1/grants/${ending.grantId}`);

    await acme('DELETE', `/v1/grants/${living.grantId}`);

    expect(await entriesOf(acme, 'passport.revoked')).toHaveLength(2);
    const both = await grantTo(acme, { scopes, principalId: 'living' });
    const { living: other } = await chainBelow(acme, both);
    await acme('DELETE', `/v1/agents/${other.agentId}`);
    await acme('DELETE', `/v1/agents/${both.agentId}`);
    expect(await entriesOf(acme, 'passport.revoked')).toHaveLength(3); // `own` fell with the agent that ended first
  });

  test.each(['suspend', 'stop'] as const)('but none falls under a %s, which may end', async (way) => {
    const { acme } = await join();
    const ending = await grantTo(acme, { scopes });
    const { ids } = await chainBelow(acme, ending);

    await hold(acme, way, ending.agentId);
    await letGo(acme, way, ending.agentId);

    expect(new Set(await statesOf(acme, ids))).toEqual(new Set(['active']));
    expect(await entriesOf(acme, 'passport.revoked')).toEqual([]);
  });
});
