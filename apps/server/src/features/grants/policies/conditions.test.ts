import { expect, test } from 'vitest';
import { authorize, entriesOf, grantTo, registerAgent, sharedSandbox } from '../../../../test/app/flow.ts';
import { hintClaims, newVoucher, personOn } from '../../../../test/app/person.ts';
import { type Developer, startApp } from '../../../../test/app/start-app.ts';
import { isDuring, isZone, localTime } from './match.rules.ts';

const start = sharedSandbox();

async function write(acme: Developer, policy: object): Promise<string> {
  const created = await acme('POST', '/v1/policies', { name: 'One', effect: 'deny', ...policy });
  expect(created.statusCode, created.body).toBe(201);
  return created.json().id;
}

const question = { agentId: 'ag_1', principalId: 'user_42', scopes: ['tool:pay:write'] };

/** The call of a tool with these arguments. */
const call = (args: unknown, tool = 'transfer') => ({
  operation: 'enforce',
  connector: 'pay',
  tool,
  arguments: args,
});

const small = { arguments: { transfer: { '/amount': { max: '500' } } }, connector: 'pay' };

/** A condition, requests that meet it, requests that do not, and what is told of the first. */
const conditions: [policy: object, met: object[], missed: object[], told: object][] = [
  [
    { purposes: ['payments.payout', 'aml.screening'] },
    [{ purpose: 'aml.screening' }],
    [{}, { purpose: 'aml.cdd.ongoing' }],
    { field: 'purposes', condition: 'aml.screening', met: 'aml.screening' },
  ],
  [
    { networks: ['10.0.0.0/8', '2001:db8::/32'] },
    [{ address: '10.255.0.1' }, { address: '::ffff:10.0.0.1' }, { address: '2001:DB8::1' }, {}],
    [{ address: '11.0.0.1' }, { address: '::ffff:11.0.0.1' }, { address: '2001:db9::1' }],
    { field: 'networks', condition: '10.0.0.0/8', met: '10.255.0.1' },
  ],
  [
    { delegationDepthMin: 1, delegationDepthMax: 2 },
    [{ delegationDepth: 1 }, { delegationDepth: 2 }],
    [{}, { delegationDepth: 0 }, { delegationDepth: 3 }],
    { field: 'delegationDepth', condition: '1–2', met: '1' },
  ],
  [
    { daysOfWeek: ['fri'], timeOfDayStart: '22:00', timeOfDayEnd: '06:00', timeZone: 'Asia/Kolkata' },
    [{ at: '2026-07-24T16:30:00Z' }, { at: '2026-07-25T00:29:59Z' }],
    [{ at: '2026-07-24T16:29:59Z' }, { at: '2026-07-25T00:30:00Z' }, { at: '2026-07-23T16:30:00Z' }],
    { field: 'timeOfDay', condition: '22:00–06:00 Asia/Kolkata', met: '22:00 Asia/Kolkata' },
  ],
  [
    { connector: 'pay', tools: ['transfer*'] },
    [call({}), call({}, 'transfer_bulk')],
    [{}, call({}, 'list'), { ...call({}), connector: 'crm' }],
    { field: 'tools', condition: 'transfer*', met: 'transfer' },
  ],
  [
    small,
    [call({ amount: 501 }), call({ amount: 5, to: 'x' }), call({}), call(undefined), call('text')],
    [call({ amount: 500 }), call({ amount: 501 }, 'list'), {}],
    { field: 'arguments', condition: 'the rules of transfer', met: 'arguments that break them' },
  ],
  [
    { ...small, effect: 'allow' },
    [call({ amount: 500 })],
    [call({ amount: 501 }), call({ amount: 5, to: 'x' }), call(undefined), {}],
    { field: 'arguments', condition: 'the rules of transfer', met: 'arguments that keep them' },
  ],
];

test.each(conditions)(
  'P3: %j holds for the requests that meet it, and is explained',
  async (policy, met, missed, told) => {
    const { acme } = await start();
    const id = await write(acme, policy);
    const ask = async (request: object) => {
      const answer = await acme('POST', '/v1/policies/evaluate', { ...question, ...request });
      expect(answer.statusCode, answer.body).toBe(200);
      return answer.json();
    };

    for (const request of met)
      expect({ request, by: (await ask(request)).policyId }).toEqual({ request, by: id });
    for (const request of missed)
      expect({ request, by: (await ask(request)).policyId }).toEqual({ request, by: null });
    const { explanation, reason } = await ask(met[0] ?? {});
    expect(explanation).toMatchObject({
      policyId: id,
      name: 'One',
      conditions: expect.arrayContaining([told]),
    });
    expect(reason).toContain(id);
  },
);

test('conditions that would match never or always, or that are misspelt, are refused', async () => {
  const { acme } = await start();
  const wrong: [object, string][] = [
    [{ timeZone: 'Europe/Berlin' }, 'timeZone'],
    [{ timeZone: '+01:00', daysOfWeek: ['mon'] }, 'timeZone'],
    [{ daysOfWeek: ['monday'] }, 'daysOfWeek'],
    [{ daysOfWeek: [] }, 'daysOfWeek'],
    [{ purposes: ['anything'] }, 'purposes.0'],
    [{ networks: ['10.0.0.1/8'] }, 'networks.0'],
    [{ networks: ['10.0.0.0/8', '010.0.0.1'] }, 'networks.1'],
    [{ delegationDepthMin: 2, delegationDepthMax: 1 }, 'delegationDepthMax'],
    [{ tools: ['transfer'] }, 'connector'],
    [{ arguments: { transfer: { '/amount': {} } } }, 'connector'],
    [{ ...small, tools: ['list'] }, 'arguments.transfer'],
    [{ connector: 'pay', arguments: { transfer: { amount: {} } } }, 'arguments.transfer.amount'],
    [{ network: ['10.0.0.0/8'] }, 'network'],
  ];

  for (const [policy, path] of wrong) {
    const refused = await acme('POST', '/v1/policies', { name: 'One', effect: 'deny', ...policy });
    expect(refused.statusCode, refused.body).toBe(400);
    const paths = refused.json().details.fields.map((field: { path: string }) => field.path);
    expect(paths, JSON.stringify(policy)).toContain(path);
  }
  const id = await write(acme, small);
  expect((await acme('PATCH', `/v1/policies/${id}`, { connector: null })).statusCode).toBe(400);
  const cleared = await acme('PATCH', `/v1/policies/${id}`, { connector: null, arguments: null });
  expect(cleared.json()).toMatchObject({ connector: null, arguments: null, version: 2 });
});

test('P3: the network is that of the caller behind trusted proxies, and a header of others says nothing', async () => {
  const { app, asDeveloper } = await startApp({ env: { TRUST_PROXY: '192.0.2.0/24' } });
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { agentId } = await registerAgent(acme);
  await write(acme, { networks: ['198.51.100.0/24', '2001:db8::/32'] });
  const ask = async (remoteAddress: string, forwardedFor?: string) => {
    const answer = await app.inject({
      method: 'POST',
      url: '/v1/authorize',
      remoteAddress,
      headers: {
        authorization: `Bearer ${acme.apiKey}`,
        ...(forwardedFor !== undefined && { 'x-forwarded-for': forwardedFor }),
      },
      payload: { agentId, principalId: 'user_42', scopes: ['a:b'] },
    });
    return answer.statusCode;
  };

  expect(await ask('198.51.100.7')).toBe(403);
  expect(await ask('::ffff:198.51.100.7')).toBe(403);
  expect(await ask('2001:db8::7')).toBe(403);
  expect(await ask('203.0.113.7')).toBe(201);
  expect(await ask('192.0.2.1', '198.51.100.7')).toBe(403);
  expect(await ask('192.0.2.1', '198.51.100.7, 203.0.113.7')).toBe(201);
  expect(await ask('198.51.100.7', '203.0.113.7')).toBe(403);
  const [{ metadata } = {}] = await entriesOf(acme, 'authorization.blocked');
  expect(metadata?.explanation).toMatchObject({
    conditions: [{ field: 'networks', condition: '198.51.100.0/24', met: '198.51.100.7' }],
  });
});

test('P3: a purpose counts at the request, the exchange, the refresh and the delegation', async () => {
  const { acme } = await start();
  const { agentId } = await registerAgent(acme);
  const asked = { scopes: ['tool:pay:read'], purpose: 'aml.screening' };
  const { code } = await authorize(acme, agentId, asked);
  const granted = await grantTo(acme, asked);
  const sub = await registerAgent(acme, 'Helper');
  await write(acme, { purposes: ['aml.screening'] });

  const answers = [
    await acme('POST', '/v1/authorize', { agentId, principalId: 'user_42', ...asked }),
    await acme('POST', '/v1/token', { code, agentId }),
    await acme('POST', '/v1/token/refresh', { refreshToken: granted.refreshToken, agentId: granted.agentId }),
    await acme('POST', '/v1/grants/delegate', {
      parentGrantToken: granted.grantToken,
      subAgentId: sub.agentId,
      scopes: asked.scopes,
    }),
  ];

  expect(answers.map((answer) => answer.json().code)).toEqual(answers.map(() => 'POLICY_DENIED'));
});

test('P3: a depth counts for the grant that a delegation would make', async () => {
  const { acme } = await start();
  const { grantToken } = await grantTo(acme);
  const [first, second] = [await registerAgent(acme, 'Helper'), await registerAgent(acme, 'Second')];
  const delegate = (parentGrantToken: string, subAgentId: string) =>
    acme('POST', '/v1/grants/delegate', { parentGrantToken, subAgentId, scopes: ['calendar:read'] });
  const policyId = await write(acme, { delegationDepthMin: 2 });

  const child = await delegate(grantToken, first.agentId);
  const grandchild = await delegate(child.json().grantToken, second.agentId);

  expect(child.statusCode).toBe(201);
  expect(grandchild.json()).toMatchObject({ code: 'POLICY_DENIED', details: { policyId } });
});

test('P3: a policy that requires approval leaves the decision to a person, whatever else would approve', async () => {
  const { service } = await start();
  const voucher = await newVoucher();
  const acme = await service.asDeveloper({ mode: 'live' });
  await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk], policyAutoApproval: true });
  const { agentId } = await registerAgent(acme);
  const scopes = ['calendar:read'];
  await write(acme, { effect: 'allow', scopes });
  const ask = () => authorize(acme, agentId, { scopes });
  expect(await ask()).toMatchObject({ status: 'approved' });

  await write(acme, { effect: 'require_approval', scopes: ['calendar:*'] });
  const asked = await ask();
  expect(asked).toMatchObject({ status: 'pending' });
  expect(asked).not.toHaveProperty('code');
  const person = personOn(service);
  await person.open(asked.consentUrl, await voucher.hint(hintClaims(service, acme.developerId, asked)));
  expect((await person.approve(asked.id)).statusCode).toBe(200);
});

test('a policy that requires approval stops the sandbox from approving, and nothing after the approval', async () => {
  const { acme } = await start();
  const { agentId, refreshToken, grantToken } = await grantTo(acme);
  const sub = await registerAgent(acme, 'Helper');
  const { code } = await authorize(acme, agentId);
  await write(acme, { effect: 'require_approval' });
  const asked = { agentId, principalId: 'user_42', scopes: ['calendar:read'] };

  expect((await acme('POST', '/v1/authorize', asked)).json()).toMatchObject({ status: 'pending' });
  expect((await acme('POST', '/v1/token', { code, agentId })).statusCode).toBe(201);
  expect((await acme('POST', '/v1/token/refresh', { refreshToken, agentId })).statusCode).toBe(201);
  const part = { parentGrantToken: grantToken, subAgentId: sub.agentId, scopes: ['calendar:read'] };
  expect((await acme('POST', '/v1/grants/delegate', part)).statusCode).toBe(201);
});

test('a replay says nothing about requests that an address would decide', async () => {
  const { acme } = await start();
  const { agentId } = await registerAgent(acme);
  await authorize(acme, agentId, { scopes: ['tool:pay:read'], purpose: 'aml.screening' });
  await authorize(acme, agentId, { scopes: ['a:b'] });
  const span = { since: '2026-01-01T00:00:00Z', until: '2026-01-02T00:00:00Z' };
  const replay = async (draft: object) => {
    const candidate = { name: 'Draft', effect: 'deny', ...draft };
    return (await acme('POST', '/v1/policies/replay', { ...span, candidate })).json();
  };

  expect(await replay({ networks: ['10.0.0.0/8'], scopes: ['a:*'] })).toMatchObject({
    evaluated: 1,
    notEvaluated: { addresses: 1 },
  });
  expect(await replay({ purposes: ['aml.screening'] })).toMatchObject({
    evaluated: 2,
    totals: { newlyDenied: 1 },
    changes: [{ explanation: { conditions: [{ field: 'purposes' }] } }],
  });
});

const at = (hours: string, days: string[] | null = null) => {
  const [dayStart = 0, dayEnd = 0] = hours.split('-').map((text) => {
    const [hour = 0, minute = 0] = text.split(':').map(Number);
    return hour * 60 + minute;
  });
  return { dayStart, dayEnd, daysOfWeek: days };
};

/** Each with the instant before it and at it, and whether it lies in the window. */
const edges: [zone: string | null, hours: string, days: string[] | null, instant: string, isIn: boolean][] = [
  // Berlin leaves out 02:00 to 03:00 on 29 March 2026, and has it twice on 25 October.
  ['Europe/Berlin', '01:30-02:30', null, '2026-03-29T00:29:59Z', false],
  ['Europe/Berlin', '01:30-02:30', null, '2026-03-29T00:30:00Z', true],
  ['Europe/Berlin', '01:30-02:30', null, '2026-03-29T00:59:59Z', true],
  ['Europe/Berlin', '01:30-02:30', null, '2026-03-29T01:00:00Z', false],
  ['Europe/Berlin', '02:00-03:00', null, '2026-03-29T00:59:59Z', false],
  ['Europe/Berlin', '02:00-03:00', null, '2026-03-29T01:00:00Z', false],
  ['Europe/Berlin', '03:00-04:00', null, '2026-03-29T01:00:00Z', true],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T00:14:59Z', false],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T00:15:00Z', true],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T00:45:00Z', false],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T01:15:00Z', true],
  ['Europe/Berlin', '02:15-02:45', null, '2026-10-25T01:45:00Z', false],
  ['Europe/Berlin', '22:00-06:00', null, '2026-10-25T04:59:59Z', true],
  ['Europe/Berlin', '22:00-06:00', null, '2026-10-25T05:00:00Z', false],
  ['Europe/Berlin', '22:00-06:00', null, '2026-03-29T03:59:59Z', true],
  ['Europe/Berlin', '22:00-06:00', null, '2026-03-29T04:00:00Z', false],
  // New York leaves out 02:00 to 03:00 on 8 March 2026, and has 01:00 to 02:00 twice on 1 November.
  ['America/New_York', '09:00-17:00', null, '2026-03-07T14:00:00Z', true],
  ['America/New_York', '09:00-17:00', null, '2026-03-08T12:59:59Z', false],
  ['America/New_York', '09:00-17:00', null, '2026-03-08T13:00:00Z', true],
  ['America/New_York', '02:00-03:00', null, '2026-03-08T06:59:59Z', false],
  ['America/New_York', '02:00-03:00', null, '2026-03-08T07:00:00Z', false],
  ['America/New_York', '01:00-02:00', null, '2026-11-01T05:00:00Z', true],
  ['America/New_York', '01:00-02:00', null, '2026-11-01T06:59:59Z', true],
  ['America/New_York', '01:00-02:00', null, '2026-11-01T07:00:00Z', false],
  ['America/New_York', '09:00-17:00', null, '2026-11-01T13:59:59Z', false],
  ['America/New_York', '09:00-17:00', null, '2026-11-01T14:00:00Z', true],
  // Half an hour, and three quarters.
  ['Asia/Kolkata', '09:00-17:00', null, '2026-06-01T03:29:59Z', false],
  ['Asia/Kolkata', '09:00-17:00', null, '2026-06-01T03:30:00Z', true],
  ['Asia/Kathmandu', '09:00-17:00', null, '2026-06-01T03:14:59Z', false],
  ['Asia/Kathmandu', '09:00-17:00', null, '2026-06-01T03:15:00Z', true],
  ['Australia/Lord_Howe', '02:00-02:30', null, '2026-10-03T15:30:00Z', false],
  // Hours past midnight belong to the day on which they begin; 24 July 2026 is a Friday.
  [null, '22:00-06:00', ['fri'], '2026-07-24T05:59:59Z', false],
  [null, '22:00-06:00', ['fri'], '2026-07-24T22:00:00Z', true],
  [null, '22:00-06:00', ['fri'], '2026-07-25T05:59:59Z', true],
  [null, '22:00-06:00', ['fri'], '2026-07-25T22:00:00Z', false],
  [null, '09:00-17:00', ['sat', 'sun'], '2026-07-24T12:00:00Z', false],
  [null, '09:00-17:00', ['sat', 'sun'], '2026-07-26T12:00:00Z', true],
  ['Pacific/Auckland', '09:00-17:00', ['sat'], '2026-07-24T21:00:00Z', true],
  ['America/New_York', '20:00-21:00', ['fri'], '2026-07-25T00:30:00Z', true],
  // Before 1970.
  [null, '22:00-06:00', ['wed'], '1969-12-31T23:00:00Z', true],
];

test.each(edges)('in %s, %s on %s: %s is inside: %s', (zone, hours, days, instant, isIn) => {
  expect(isDuring(at(hours, days), localTime(new Date(instant), zone))).toBe(isIn);
});

test('days without hours begin and end at midnight of their zone', () => {
  const sunday = { dayStart: null, dayEnd: null, daysOfWeek: ['sun'] };
  const isSunday = (instant: string) => isDuring(sunday, localTime(new Date(instant), 'Europe/Berlin'));

  expect(isSunday('2026-03-28T22:59:59.999Z')).toBe(false);
  expect(isSunday('2026-03-28T23:00:00.000Z')).toBe(true);
  expect(isSunday('2026-03-29T21:59:59.999Z')).toBe(true);
  expect(isSunday('2026-03-29T22:00:00.000Z')).toBe(false);
});

test('a zone has a name of the IANA database, and no offset counts as a name', () => {
  for (const zone of ['Europe/Berlin', 'UTC', 'Asia/Kolkata']) expect(isZone(zone)).toBe(true);
  for (const text of ['+01:00', 'Berlin', 'Europe/Atlantis', '']) expect(isZone(text)).toBe(false);
});
