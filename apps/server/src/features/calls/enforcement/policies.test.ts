import { expect, test } from 'vitest';
import { entriesOf, grantTo, sharedSandbox } from '../../../../test/app/flow.ts';
import { type Developer, newDatabase, startApp } from '../../../../test/app/start-app.ts';

const sandbox = sharedSandbox();

const manifest = {
  $schema: 'x',
  connector: 'acme_pay',
  version: '1',
  tools: { list: 'read', transfer: { permission: 'write', caps: { per_day: 3 } } },
};

async function payer(acme: Developer) {
  await acme('PUT', '/v1/manifests/acme_pay', manifest);
  const scopes = ['tool:acme_pay:write', 'calendar:read'];
  const { grantToken, ...granted } = await grantTo(acme, { scopes, purpose: 'payments.payout' });
  const enforce = async (tool: string, args: unknown = {}, more: object = {}) => {
    const call = { grantToken, connector: 'acme_pay', tool, arguments: args, ...more };
    return (await acme('POST', '/v1/enforce', call)).json();
  };
  return { ...granted, grantToken, enforce };
}

async function write(acme: Developer, policy: object): Promise<string> {
  const created = await acme('POST', '/v1/policies', { name: 'One', effect: 'deny', ...policy });
  expect(created.statusCode, created.body).toBe(201);
  return created.json().id;
}

test('P3: a policy denies a call of a token that was issued before it, and the entry says which and why', async () => {
  const { acme } = await sandbox();
  const { enforce, grantId } = await payer(acme);
  const transfer = () => enforce('transfer', { amount: 501 });
  expect(await transfer()).toMatchObject({ allowed: true });
  const policyId = await write(acme, {
    connector: 'acme_pay',
    arguments: { transfer: { '/amount': { max: '500' } } },
  });

  expect(await transfer()).toMatchObject({
    allowed: false,
    reason: 'A policy denies this call.',
    reason_code: 'tool_not_granted',
    sub_reason: 'policy_denied',
    details: { policy_id: policyId },
    reservation: null,
  });
  expect(await enforce('transfer', { amount: 5, to: 'x' })).toMatchObject({ sub_reason: 'policy_denied' });
  expect(await enforce('list')).toMatchObject({ allowed: true });
  // The denied calls cost no unit of the three a day.
  expect(await enforce('transfer', { amount: 500 })).toMatchObject({ allowed: true });

  const [entry] = (await entriesOf(acme, 'tool.enforce')).filter(({ status }) => status === 'blocked');
  expect(entry).toMatchObject({
    grantId,
    metadata: {
      reasonCode: 'tool_not_granted',
      subReason: 'policy_denied',
      policyId,
      explanation: {
        policyId,
        name: 'One',
        conditions: [
          { field: 'connector', condition: 'acme_pay', met: 'acme_pay' },
          { field: 'arguments', condition: 'the rules of transfer', met: 'arguments that break them' },
        ],
      },
    },
  });
  // The amount of the call stays out of the entry. Ids and digests may hold any digits.
  expect(JSON.stringify(entry?.metadata)).not.toMatch(/\b501\b/);
  await acme('DELETE', `/v1/policies/${policyId}`);
  expect(await transfer()).toMatchObject({ allowed: true });
});

const conditions: [policy: object, denied: boolean][] = [
  [{ scopes: ['tool:acme_pay:read'] }, true],
  [{ scopes: ['tool:acme_pay:write'] }, true],
  [{ scopes: ['tool:acme_pay:delete'] }, false],
  [{ scopes: ['tool:acme_pay:write:transfer'] }, true],
  [{ scopes: ['tool:acme_pay:write:account-7'] }, true],
  [{ scopes: ['tool:acme_pay:write:account-8'] }, false],
  [{ scopes: ['calendar:read'] }, false],
  [{ connector: 'acme_pay', tools: ['trans*'] }, true],
  [{ connector: 'acme_pay', tools: ['list'] }, false],
  [{ connector: 'acme_mail' }, false],
  [{ purposes: ['payments.payout'] }, true],
  [{ purposes: ['aml.screening'] }, false],
  [{ networks: ['127.0.0.0/8'] }, true],
  [{ networks: ['10.0.0.0/8'] }, false],
  [{ delegationDepthMax: 0 }, true],
  [{ delegationDepthMin: 1 }, false],
  [{ timeOfDayStart: '01:00', timeOfDayEnd: '02:00', timeZone: 'Europe/Berlin' }, true],
  [{ timeOfDayStart: '00:00', timeOfDayEnd: '01:00', timeZone: 'Europe/Berlin' }, false],
  [{ daysOfWeek: ['thu'] }, true],
  [{ daysOfWeek: ['fri'] }, false],
  [{ effect: 'require_approval' }, false],
];

test.each(conditions)('P3: at a call, %j denies: %s', async (policy, denied) => {
  const { acme } = await sandbox();
  const { enforce } = await payer(acme);
  await write(acme, policy);

  const answer = await enforce('transfer', {}, { resource: 'account-7' });

  expect(answer.sub_reason).toBe(denied ? 'policy_denied' : null);
});

test('P3: no spelling of the thing acted on avoids a denial', async () => {
  const { acme } = await sandbox();
  const { enforce } = await payer(acme);
  await write(acme, { scopes: ['tool:acme_pay:write:account-8'] });

  for (const resource of [undefined, 'account-8', 'account 8', 'a:b', 'account-*', '*', 'capped']) {
    const answer = await enforce(
      'transfer',
      {},
      { reserve: false, ...(resource !== undefined && { resource }) },
    );
    expect({ resource, by: answer.sub_reason }).toEqual({ resource, by: 'policy_denied' });
  }
});

test('P3: a permission of a higher order spares a call that keeps its rules, and no other', async () => {
  const { acme } = await sandbox();
  const { enforce } = await payer(acme);
  await write(acme, { scopes: ['tool:acme_pay:write'] });
  const rules = { transfer: { '/amount': { max: '500' } } };
  await write(acme, { effect: 'allow', priority: 1, connector: 'acme_pay', arguments: rules });

  expect(await enforce('transfer', { amount: 500 })).toMatchObject({ allowed: true });
  expect(await enforce('transfer', { amount: 501 })).toMatchObject({ sub_reason: 'policy_denied' });
});

test('P3: a policy holds for calls on every instance from the answer that made it', async () => {
  const databaseUrl = await newDatabase();
  const [one, other] = [await startApp({ databaseUrl }), await startApp({ databaseUrl })];
  const acme = await one.asDeveloper({ mode: 'sandbox' });
  const { grantToken } = await payer(acme);
  const there = other.calling(acme.apiKey);
  const enforce = async () =>
    (
      await there('POST', '/v1/enforce', { grantToken, connector: 'acme_pay', tool: 'list', arguments: {} })
    ).json();

  for (let round = 0; round < 3; round += 1) {
    const id = await write(acme, { connector: 'acme_pay' });
    expect(await enforce()).toMatchObject({ details: { policy_id: id } });
    await acme('DELETE', `/v1/policies/${id}`);
    expect(await enforce()).toMatchObject({ allowed: true });
  }
});
