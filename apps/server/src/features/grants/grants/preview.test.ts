import { sql } from 'kysely';
import { expect, test } from 'vitest';
import { insertBranches } from '../../../../test/app/delegated.ts';
import { authorize, grantTo, refusalOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import type { Developer } from '../../../../test/app/start-app.ts';

const start = sharedSandbox();

const preview = async (acme: Developer, query = '') =>
  (await acme('GET', `/v1/stops/preview${query}`)).json();
const whole = { truncated: false };

test('the preview of a stop counts what ends: of a grant, an agent, a principal and the account', async () => {
  const { service, acme } = await start();
  const root = await grantTo(acme);
  const helper = await registerAgent(acme, 'Helper');
  const [branch] = await insertBranches(service, { parentId: root.grantId, agentId: helper.agentId });
  await insertBranches(service, { parentId: String(branch?.grantId) });
  const other = await grantTo(acme, { principalId: 'user_43' });
  await authorize(acme, other.agentId, { principalId: 'user_42', autoApprove: false });
  await authorize(acme, helper.agentId, { principalId: 'user_44', autoApprove: false });

  expect(await preview(acme, `?grantId=${root.grantId}`)).toEqual({
    ...{ grants: 3, agents: 2, principals: 1, requests: 0, calls: 0 },
    ...whole,
  });
  expect(await preview(acme, `?agentId=${helper.agentId}`)).toEqual({
    ...{ grants: 2, agents: 1, principals: 1, requests: 1, calls: 0 },
    ...whole,
  });
  expect(await preview(acme, '?principalId=user_42')).toEqual({
    ...{ grants: 3, agents: 2, principals: 1, requests: 1, calls: 0 },
    ...whole,
  });
  expect(await preview(acme)).toEqual({
    grants: 4,
    agents: 3,
    principals: 2,
    requests: 2,
    calls: 0,
    ...whole,
  });
  expect(await preview(acme, '?principalId=nobody')).toMatchObject({ grants: 0, requests: 0 });

  await acme('DELETE', `/v1/grants/${root.grantId}`);
  expect(await preview(acme)).toMatchObject({ grants: 1, agents: 1, principals: 1 });
  expect(await preview(acme, `?grantId=${root.grantId}`)).toMatchObject({ grants: 0, agents: 0 });
});

test('the preview of a stop ends at 1,000, and says so', async () => {
  const { service, acme } = await start();
  const { agentId, grantId } = await grantTo(acme);
  await sql`insert into grants select (jsonb_populate_record(one, jsonb_build_object('id', 'grnt_' || n,
      'root_grant_id', 'grnt_' || n, 'auth_request_id', null))).*
    from grants one, generate_series(1, 1000) n where one.id = ${grantId}`.execute(service.db);

  for (const query of ['', `?agentId=${agentId}`, '?principalId=user_42']) {
    const counts = { grants: 1000, agents: 1, principals: 1, requests: 0, calls: 0, truncated: true };
    expect(await preview(acme, query)).toEqual(counts);
  }
});

test('the preview of a stop knows no foreign subject, and takes one', async () => {
  const { service, acme } = await start();
  const eve = await service.asDeveloper({ mode: 'sandbox' });
  const { agentId, grantId } = await grantTo(acme);
  const ask = async (query: string) => refusalOf(await eve('GET', `/v1/stops/preview?${query}`));

  expect(await ask(`agentId=${agentId}`)).toBe('404 NOT_FOUND');
  expect(await ask(`grantId=${grantId}`)).toBe('404 NOT_FOUND');
  expect(await ask(`grantId=${grantId}&agentId=${agentId}`)).toBe('400 BAD_REQUEST');
  expect(await preview(eve, '?principalId=user_42')).toMatchObject({ grants: 0 });
});
