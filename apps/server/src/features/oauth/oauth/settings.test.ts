import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import { basic, REDIRECT } from '../../../../test/app/oauth.ts';
import { sendForm } from '../../../../test/app/published.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const OTHER = 'https://client.test/other';
const settings = { redirectUris: [REDIRECT], authMethod: 'client_secret_basic' };

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

/** An agent that is no OAuth client yet. */
async function newAgent(members: object = {}) {
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId } = (await acme('POST', '/v1/agents', { name: 'Assistant', ...members })).json();
  const path = `/v1/agents/${agentId}/oauth`;
  const put = (changes: object = {}) => acme('PUT', path, { ...settings, ...changes });
  return { acme, agentId: String(agentId), path, put };
}

/** The error of the token endpoint: `invalid_grant` shows that the client is proved. */
async function errorBy(method: 'basic' | 'post', clientId: string, secret: string) {
  const form = { grant_type: 'refresh_token', refresh_token: 'ref_x' };
  const answer =
    method === 'basic'
      ? await sendForm(service, 'token', form, { headers: basic(clientId, secret) })
      : await sendForm(service, 'token', { ...form, client_id: clientId, client_secret: secret });
  return answer.json().error;
}

describe('the settings of an agent as an OAuth client', () => {
  test('are put, read and deleted, and each change is recorded once', async () => {
    const { acme, agentId, path, put } = await newAgent();

    const made = await put();
    service.advance(1);
    const changes = { redirectUris: [REDIRECT, OTHER], dpopBound: true };
    const changed = await put(changes);
    const read = await acme('GET', path);
    const deleted = await acme('DELETE', path);

    const { createdAt, updatedAt } = made.json();
    expect(made.json()).toEqual({
      ...{ clientId: agentId, ...settings, dpopBound: false, createdAt, updatedAt: createdAt },
      clientSecret: expect.stringMatching(/^bhs_[\w-]{43}$/),
    });
    expect(changed.json()).toEqual({
      ...{ clientId: agentId, ...settings, ...changes, createdAt },
      updatedAt: service.clock().toISOString(),
    });
    expect(updatedAt).not.toBe(changed.json().updatedAt);
    expect(read.json()).toEqual(changed.json());
    expect(deleted.statusCode).toBe(204);
    expect(refusalOf(await acme('GET', path))).toBe('404 NOT_FOUND');
    expect(refusalOf(await acme('DELETE', path))).toBe('404 NOT_FOUND');
    const told = { agentId, metadata: { name: 'Assistant', changed: ['oauth'] } };
    expect(await entriesOf(acme, 'agent.updated')).toMatchObject([told, told, told]);
  });

  test('keep the secret as long as the client needs one, and the next one is another', async () => {
    const { agentId, put } = await newAgent();
    const { clientSecret: first } = (await put()).json();

    const posted = await put({ authMethod: 'client_secret_post' });
    const byPost = await errorBy('post', agentId, first);
    const byBasic = await errorBy('basic', agentId, first);
    const open = await put({ authMethod: 'none' });
    const byNothing = await errorBy('post', agentId, first);
    const again = (await put()).json();

    expect([posted.json().clientSecret, open.json().clientSecret]).toEqual([undefined, undefined]);
    expect([byPost, byBasic, byNothing]).toEqual(['invalid_grant', 'invalid_client', 'invalid_client']);
    expect(again.clientSecret).toMatch(/^bhs_[\w-]{43}$/);
    expect(await errorBy('basic', agentId, first)).toBe('invalid_client');
    expect(await errorBy('basic', agentId, again.clientSecret)).toBe('invalid_grant');
  });

  test.each<[string, object, string, object]>([
    [
      'the method of a key that the agent does not have',
      { authMethod: 'private_key_jwt' },
      '409 CONFLICT',
      { field: 'publicKeyJwk' },
    ],
    [
      'one address twice',
      { redirectUris: [REDIRECT, OTHER, REDIRECT] },
      '400 BAD_REQUEST',
      { fields: [{ path: 'redirectUris', problem: 'not_allowed' }] },
    ],
    [
      'an address to which no browser may be sent',
      { redirectUris: [REDIRECT, 'javascript:alert(1)'] },
      '400 INVALID_REDIRECT_URI',
      { fields: [{ path: 'redirectUris.1', problem: 'format' }] },
    ],
  ])('are refused with %s, and nothing is recorded', async (_, changes, refusal, details) => {
    const { acme, path, put } = await newAgent();

    const refused = await put(changes);

    expect(refusalOf(refused)).toBe(refusal);
    expect(refused.json().details).toEqual(details);
    expect((await acme('GET', path)).statusCode).toBe(404);
    expect(await entriesOf(acme, 'agent.updated')).toEqual([]);
    expect((await put()).statusCode).toBe(200);
  });

  test('take the method of a key that the agent has', async () => {
    const { publicKey } = await generateKeyPair('ES256');
    const { put } = await newAgent({ publicKeyJwk: await exportJWK(publicKey) });

    const made = await put({ authMethod: 'private_key_jwt' });

    expect([made.statusCode, made.json().clientSecret]).toEqual([200, undefined]);
  });

  test('stay as they are for a revoked agent, and change for a suspended one', async () => {
    const { acme, agentId, path, put } = await newAgent();
    await put();
    await acme('PATCH', `/v1/agents/${agentId}`, { status: 'suspended' });
    const suspended = await put({ dpopBound: true });
    await acme('DELETE', `/v1/agents/${agentId}`);
    const before = await entriesOf(acme, 'agent.updated');

    const refused = [await put(), await acme('DELETE', path)];

    expect(suspended.statusCode).toBe(200);
    expect(refused.map(refusalOf)).toEqual(Array(2).fill('409 AGENT_INACTIVE'));
    expect((await acme('GET', path)).json().dpopBound).toBe(true);
    expect(await entriesOf(acme, 'agent.updated')).toEqual(before);
  });

  test('belong to an agent of the account', async () => {
    const [own, foreign] = [await newAgent(), await newAgent()];
    await foreign.put();

    const answers = [
      await own.acme('PUT', foreign.path, settings),
      await own.acme('GET', foreign.path),
      await own.acme('DELETE', foreign.path),
    ];

    expect(answers.map(refusalOf)).toEqual(Array(3).fill('404 NOT_FOUND'));
    expect((await foreign.acme('GET', foreign.path)).statusCode).toBe(200);
  });
});
