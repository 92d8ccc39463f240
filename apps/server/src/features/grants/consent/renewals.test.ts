import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { authorize, entriesOf, refusalOf, registerAgent } from '../../../../test/app/flow.ts';
import { startAsking } from '../../../../test/app/person.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';

const DUE = '400 INVALID_GRANT reconsent_required';
const READ = ['calendar:read'];
const DAY = 86_400; // seconds

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

const newKey = async () => exportJWK((await generateKeyPair('ES256')).publicKey);

/** Refreshes again and again, each time with the newest token. */
function refresher(acme: Developer, agentId: string, first: string) {
  let refreshToken = first;
  return async () => {
    const answer = await acme('POST', '/v1/token/refresh', { refreshToken, agentId });
    if (answer.statusCode === 201) ({ refreshToken } = answer.json());
    return answer.statusCode === 201 ? '201' : refusalOf(answer);
  };
}

const causesOf = async (acme: Developer) =>
  (await entriesOf(acme, 'grant.reconsent_required')).map(({ metadata }) => metadata.cause);

describe('a consent that has to be renewed', () => {
  test('O31 ends the refreshes of a delegation too, which is judged by the consent at its root', async () => {
    const { acme, agentId, consent } = await startAsking(service);
    const { grantToken } = await consent({ scopes: READ, expiresIn: '60d' });
    await acme('PATCH', '/v1/me', { reconsentAfterDays: 10, reconsentOnAgentChange: true });
    service.advance(DAY / 2);
    const { agentId: subAgentId } = await registerAgent(acme, 'Helper');
    const part = { parentGrantToken: grantToken, subAgentId, scopes: READ, expiresIn: '30d' };
    const child = (await acme('POST', '/v1/grants/delegate', part)).json();
    const refresh = refresher(acme, subAgentId, child.refreshToken);

    await acme('PATCH', `/v1/agents/${subAgentId}`, { name: 'Other helper' });
    expect(await refresh()).toBe('201'); // the person was shown the agent of the root, and not this one
    await acme('PATCH', `/v1/agents/${agentId}`, { name: 'Other agent' });
    expect(await refresh()).toBe(DUE);
    await acme('PATCH', `/v1/agents/${agentId}`, { name: 'Travel booker' });
    service.advance(9.5 * DAY - 1);
    expect(await refresh()).toBe('201');
    service.advance(1); // ten days after the consent, and nine and a half after the delegation
    expect(await refresh()).toBe(DUE);
    expect((await causesOf(acme)).toSorted()).toEqual(['age', 'agent_changed']);
  });

  test.each<[string, boolean, boolean]>([
    ['is given', false, true],
    ['is replaced', true, true],
    ['is taken away', true, false],
  ])('O31 after the key of the agent %s, until the key is as it was', async (_, hadKey, hasKey) => {
    const [old, next] = [await newKey(), await newKey()];
    const { acme, agentId, consent } = await startAsking(service, hadKey ? { publicKeyJwk: old } : {});
    const { refreshToken } = await consent();
    const refresh = refresher(acme, agentId, refreshToken);
    await acme('PATCH', '/v1/me', { reconsentOnAgentChange: true });

    expect(await refresh()).toBe('201');
    await acme('PATCH', `/v1/agents/${agentId}`, { publicKeyJwk: hasKey ? next : null });
    expect(await refresh()).toBe(DUE);
    await acme('PATCH', `/v1/agents/${agentId}`, { publicKeyJwk: hadKey ? old : null });
    expect(await refresh()).toBe('201');
    expect(await causesOf(acme)).toEqual(['agent_changed']);
  });

  test('rests on a decision: a grant of a policy refreshes after a change of the agent, whom nobody was shown', async () => {
    const { acme, agentId } = await startAsking(service);
    await acme('PATCH', '/v1/me', { policyAutoApproval: true, reconsentOnAgentChange: true });
    await acme('POST', '/v1/policies', { name: 'Reads', effect: 'allow', scopes: READ });
    const { code } = await authorize(acme, agentId, { scopes: READ });
    const { refreshToken } = (await acme('POST', '/v1/token', { code, agentId })).json();

    await acme('PATCH', `/v1/agents/${agentId}`, { name: 'Other agent', publicKeyJwk: await newKey() });

    expect(await refresher(acme, agentId, refreshToken)()).toBe('201');
  });

  test('no policy approves where the account asks for passkeys', async () => {
    const { acme, agentId } = await startAsking(service);
    await acme('PATCH', '/v1/me', { policyAutoApproval: true });
    await acme('POST', '/v1/policies', { name: 'Reads', effect: 'allow', scopes: READ });
    const before = await authorize(acme, agentId, { scopes: READ });
    await acme('PATCH', '/v1/me', { consentMode: 'passkey' });

    const after = await authorize(acme, agentId, { scopes: READ });

    expect([before.status, after.status]).toEqual(['approved', 'pending']);
  });

  test('O31 is put off by no grant that a policy gave since', async () => {
    const { acme, agentId, consent } = await startAsking(service);
    await acme('PATCH', '/v1/me', { policyAutoApproval: true, reconsentAfterDays: 10 });
    await consent({ scopes: READ });
    await acme('POST', '/v1/policies', { name: 'Reads', effect: 'allow', scopes: READ });
    service.advance(9 * DAY);
    const young = await authorize(acme, agentId, { scopes: READ });
    const given = await acme('POST', '/v1/token', { code: young.code, agentId });

    service.advance(DAY);
    const due = await authorize(acme, agentId, { scopes: READ });
    const stranger = await authorize(acme, agentId, { scopes: READ, principalId: 'user_43' });

    expect([young.status, given.statusCode, due.status]).toEqual(['approved', 201, 'pending']);
    expect(stranger.status).toBe('approved'); // another person, who has decided nothing
  });

  test('O31 is put off by no grant that another agent delegates to this one', async () => {
    const { acme, agentId } = await startAsking(service);
    await acme('PATCH', '/v1/me', { policyAutoApproval: true, reconsentAfterDays: 10 });
    await acme('POST', '/v1/policies', { name: 'Reads', effect: 'allow', scopes: READ });
    const { agentId: helper } = await registerAgent(acme, 'Helper');
    const granted = async (asker: string) => {
      const { code } = await authorize(acme, asker, { scopes: READ });
      return (await acme('POST', '/v1/token', { code, agentId: asker })).json();
    };
    await granted(agentId);
    service.advance(9 * DAY);
    const { grantToken } = await granted(helper);
    const part = { parentGrantToken: grantToken, subAgentId: agentId, scopes: READ };
    const delegated = await acme('POST', '/v1/grants/delegate', part);

    service.advance(DAY);
    const due = await authorize(acme, agentId, { scopes: READ });
    const young = await authorize(acme, helper, { scopes: READ });

    expect([delegated.statusCode, due.status, young.status]).toEqual([201, 'pending', 'approved']);
  });

  test('O31 because of a wider tool keeps policies from approving until the person has decided', async () => {
    const { acme, agentId, consent } = await startAsking(service);
    const put = (caps: object) =>
      acme('PUT', '/v1/manifests/acme_pay', {
        ...{ connector: 'acme_pay', tools: { send: { permission: 'write', caps } } },
      });
    await put({ per_day: 3 });
    const scopes = ['tool:acme_pay:write'];
    const { grantToken } = await consent({ scopes });
    await acme('PATCH', '/v1/me', { policyAutoApproval: true });
    await acme('POST', '/v1/policies', { name: 'Payments', effect: 'allow', scopes });
    const ask = async () => (await authorize(acme, agentId, { scopes })).status;

    const before = await ask();
    await put({ per_day: 9 });
    await acme('POST', '/v1/enforce', { grantToken, connector: 'acme_pay', tool: 'send' });
    const due = await ask();
    await acme('PATCH', '/v1/me', { policyAutoApproval: false });
    await consent({ scopes });
    await acme('PATCH', '/v1/me', { policyAutoApproval: true });

    expect(await causesOf(acme)).toEqual(['manifest_changed']);
    expect([before, due, await ask()]).toEqual(['approved', 'pending', 'approved']);
  });
});
