import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { createTestIssuer, mockBehest } from '@behest/sdk/testing';
import { createVerifier } from '@behest/sdk/verify';
import Schema from 'typebox/schema';
import { expect, test } from 'vitest';
import { readDescription } from '../../scripts/generate/description/resolve.ts';

const { paths } = readDescription(readFileSync(join(import.meta.dirname, '../../openapi.json'), 'utf8'));

test('each kind of token of a test issuer is taken, or refused with the reason for which it was made', async () => {
  const issuer = await createTestIssuer();
  const verifier = createVerifier(issuer.options);
  const reasonOf = async (token: string) => {
    const result = await verifier.detailed(token);
    return result.ok ? 'taken' : result.reason;
  };

  expect({
    usual: await reasonOf(await issuer.signGrantToken()),
    legacy: await reasonOf(await issuer.legacy()),
    expired: await reasonOf(await issuer.expired()),
    tampered: await reasonOf(await issuer.tampered()),
    otherDeveloper: await reasonOf(await issuer.otherDeveloper()),
    sandbox: await reasonOf(await issuer.sandbox()),
    ofAnother: await reasonOf(await (await createTestIssuer()).signGrantToken()),
  }).toEqual({
    ...{ usual: 'taken', legacy: 'taken', expired: 'expired', tampered: 'bad_signature' },
    ...{ otherDeveloper: 'developer_mismatch', sandbox: 'sandbox_not_allowed', ofAnother: 'bad_signature' },
  });
  const allowing = createVerifier({ ...issuer.options, allowSandbox: true });
  expect((await allowing.verify(await issuer.sandbox({ scp: ['a:b'] }))).scopes).toEqual(['a:b']);
});

test('the service in memory gives a grant, and takes it away', async () => {
  const { behest, calls, issuer } = await mockBehest();
  const agent = await behest.agents.register({ name: 'Reader', scopes: ['calendar:read'] });
  const { code = '' } = await behest.authorize({
    agentId: agent.id,
    userId: 'ada',
    scopes: ['calendar:read'],
  });
  const { grantToken, grantId } = await behest.tokens.exchange({ code, agentId: agent.id });

  expect(await behest.verify(grantToken)).toMatchObject({ principalId: 'ada', grantId, agentId: agent.id });
  expect(await behest.grants.verify(grantToken)).toEqual(await behest.verify(grantToken));
  await behest.grants.revoke(grantId);

  expect(await behest.tokens.verify(grantToken)).toEqual({ valid: false, reason: 'revoked' });
  await expect(behest.grants.verify(grantToken)).rejects.toMatchObject({ reason: 'revoked' });
  await expect(behest.tokens.exchange({ code, agentId: agent.id })).rejects.toMatchObject({
    statusCode: 404,
  });
  await expect(behest.domains.list()).rejects.toMatchObject({ statusCode: 501, code: 'NOT_SUPPORTED' });
  expect(calls.slice(0, 3).map(({ route }) => route)).toEqual([
    ...['POST /v1/agents', 'POST /v1/authorize', 'POST /v1/token'],
  ]);
  expect(issuer.developerId).toBe(agent.developerId);
});

test('its answers are those of the description', async () => {
  const { behest: _, fetch, issuer } = await mockBehest();
  const faults: string[] = [];
  const answered = new Set<string>();
  const behest = new Behest({
    ...{ apiKey: 'bh_test_mock', baseUrl: issuer.issuer, developerId: issuer.developerId, maxRetries: 0 },
    async fetch(url, init) {
      const answer = await fetch(url, init);
      const path = new URL(url).pathname.replace(/(?<=\/)(?:ag|grnt)_[^/]+/, '{id}');
      const verb = String(init.method).toLowerCase();
      const schema = paths[path]?.[verb]?.responses?.[answer.status]?.content?.['application/json']?.schema;
      const value: unknown = answer.status === 204 ? undefined : await answer.clone().json();
      const route = `${verb} ${path} ${answer.status}`;
      answered.add(route);
      if (!paths[path]?.[verb]?.responses?.[answer.status]) faults.push(`${route} is not described`);
      else if (schema && !Schema.Check(schema, value)) faults.push(`${route}: ${JSON.stringify(value)}`);
      return answer;
    },
  });
  const agent = await behest.agents.register({ name: 'Reader', scopes: ['calendar:read'] });
  await behest.agents.list();
  await behest.agents.suspend(agent.id);
  const { code = '' } = await behest.authorize({
    agentId: agent.id,
    userId: 'ada',
    scopes: ['calendar:read'],
  });
  const { grantToken, grantId } = await behest.tokens.exchange({ code, agentId: agent.id });
  await behest.tokens.verify(grantToken);
  await behest.grants.verify(grantToken);
  await behest.grants.get(grantId);
  await behest.grants.list();
  await behest.grants.revoke(grantId);
  await behest.grants.get(grantId);
  await behest.tokens.verify(grantToken);
  await behest.agents.delete(agent.id);
  await behest.agents.get('ag_none').catch(() => undefined);

  expect(faults).toEqual([]);
  expect(answered.size).toBeGreaterThan(11);
});
