import { expect, test } from 'vitest';
import { grantTo, partsOf, sharedSandbox } from '../../../../test/app/flow.ts';
import { newResource } from '../../../../test/app/oauth.ts';

const sandbox = sharedSandbox();

test('a number that two readers read differently is denied, as at the native door', async () => {
  const { acme, service } = await sandbox();
  const tools = { pay: { permission: 'write', arguments: { '/amount': { max: '500' } } } };
  await acme('PUT', '/v1/manifests/shop', { $schema: 'x', connector: 'shop', version: '1', tools });
  const { grantToken } = await grantTo(acme, { scopes: ['tool:shop:write'] });
  const ask = async (amount: string) => {
    const question = {
      subject: { type: 'token', id: partsOf(grantToken).payload.jti },
      ...{ action: { name: 'pay' }, resource: { type: 'connector', id: 'shop' } },
      context: { arguments: { amount: 0 } },
    };
    const answer = await service.app.inject({
      ...{ method: 'POST', url: '/access/v1/evaluation' },
      headers: { authorization: `Bearer ${acme.apiKey}`, 'content-type': 'application/json' },
      payload: JSON.stringify(question).replace('"amount":0', `"amount":${amount}`),
    });
    return answer.json();
  };

  expect(await ask('500')).toMatchObject({ decision: true });
  for (const inexact of ['500.0000000000000000001', '9.000000000000001']) {
    expect(await ask(inexact)).toMatchObject({
      decision: false,
      context: { sub_reason: 'argument_unreadable', details: { cause: 'number' } },
    });
  }
});

test('a resource of two connectors names the one that it means', async () => {
  const { acme, calling } = await sandbox();
  const audience = 'http://localhost/two-connectors';
  const { id, credential } = await newResource(acme, audience);
  await acme('PATCH', `/v1/resources/${id}`, { connectors: ['desk', 'shelf'] });
  const manifest = { $schema: 'x', connector: 'desk', version: '1', tools: { list: 'read' } };
  await acme('PUT', '/v1/manifests/desk', manifest);
  const { grantToken } = await grantTo(acme, { scopes: ['tool:desk:read'], audience });
  const ask = async (more: object = {}) => {
    const answer = await calling(credential)('POST', '/access/v1/evaluation', {
      subject: { type: 'token', id: partsOf(grantToken).payload.jti },
      ...{ action: { name: 'tools/call' }, resource: { type: 'tool', id: 'list', ...more } },
    });
    return answer.json().decision;
  };

  expect(await ask()).not.toBe(true);
  expect(await ask({ properties: { connector: 'desk' } })).toBe(true);
});
