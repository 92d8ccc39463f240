import { expect, test } from 'vitest';
import { authorize, partsOf, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import { personOn } from '../../../../test/app/person.ts';

const sandbox = sharedSandbox();

const rules = { '/amount': { max: '500' }, '/currency': { in: ['EUR', 'USD'] } };

async function asked() {
  const { acme, service } = await sandbox();
  const { agentId } = await registerAgent(acme);
  const { id, consentUrl } = await authorize(acme, agentId, {
    scopes: ['tool:acme_pay:write'],
    authorizationDetails: [
      {
        type: 'urn:service:tools:v1',
        connector: 'acme_pay',
        tools: ['transfer', 'balance'],
        arguments: { transfer: rules },
      },
    ],
    autoApprove: false,
  });
  const person = personOn(service);
  const opened = await person.open(consentUrl);
  const entriesOf = async (approved: { json(): { code: string } }) => {
    const { code } = approved.json();
    const { grantToken } = (await acme('POST', '/v1/token', { code, agentId })).json();
    return partsOf(grantToken).payload.authorization_details;
  };
  return { id, person, opened, entriesOf };
}

test('a person is shown the limits of arguments in words', async () => {
  const { opened } = await asked();

  expect(opened.json().request.argumentLimits).toEqual([
    {
      connector: 'acme_pay',
      tool: 'transfer',
      open: false,
      lines: [
        { path: 'amount', text: 'at most 500' },
        { path: 'currency', text: '“EUR” or “USD”' },
      ],
    },
  ]);
});

test('a person allows less, and the token holds the person’s limits', async () => {
  const { id, person, entriesOf } = await asked();
  const transfer = { '/amount': { min: '10', max: '100' }, '/currency': { in: ['EUR'] } };

  const approved = await person.approve(id, { arguments: { acme_pay: { transfer } } });

  expect(await entriesOf(approved)).toEqual([
    expect.objectContaining({ connector: 'acme_pay', arguments: { transfer } }),
  ]);
});

test('a person who says nothing about arguments keeps the limits that were asked', async () => {
  const { id, person, entriesOf } = await asked();

  const approved = await person.approve(id, { tools: { acme_pay: ['transfer'] } });

  expect(await entriesOf(approved)).toEqual([
    expect.objectContaining({ tools: ['transfer'], arguments: { transfer: rules } }),
  ]);
});

test('O8 nobody approves more than was asked', async () => {
  const { id, person } = await asked();
  const wider = { '/amount': { max: '501' }, '/currency': { in: ['EUR'] } };

  const refused = await person.approve(id, { arguments: { acme_pay: { transfer: wider } } });

  expect(refused.statusCode).toBe(400);
  expect(refused.json().details.fields).toEqual([
    { path: 'arguments.acme_pay.transfer', problem: 'not_allowed' },
  ]);
  expect((await person.approve(id)).statusCode).toBe(200);
});
