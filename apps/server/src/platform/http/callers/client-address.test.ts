import { expect, test } from 'vitest';
import { registerAgent } from '../../../../test/app/flow.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

/** One request a minute for each address. */
const startCounting = (TRUST_PROXY: string) =>
  startApp({ realLimits: true, store: 'memory', env: { RATE_LIMIT_DEFAULT: '1', TRUST_PROXY } });

const PROXY = '::ffff:10.0.0.1'; // as a socket for both families writes it

async function statusesOf({ app }: Service, forwarded: readonly string[]): Promise<number[]> {
  const statuses: number[] = [];
  for (const each of forwarded) {
    const headers = { 'x-forwarded-for': each };
    statuses.push((await app.inject({ url: '/livez', remoteAddress: PROXY, headers })).statusCode);
  }
  return statuses;
}

const firstOnly = (all: readonly unknown[]) => all.map((_, index) => (index === 0 ? 200 : 429));

test('agents K1: an address is the same with port, brackets, zone or in the form of IPv6', async () => {
  const service = await startCounting('1');
  const ofOne = [
    ...['198.51.100.1', '198.51.100.1:4001', '::ffff:198.51.100.1', '[::ffff:198.51.100.1]:4002'],
    ...[
      '::ffff:c633:6401',
      '::ffff:198.51.100.1:4003',
      '203.0.113.9, 198.51.100.1:4004',
      ' , 198.51.100.1 ,',
    ],
  ];
  const ofNetwork = [
    ...['2001:db8:1:2::7', '[2001:db8:1:2::9]:4711', '[2001:db8:1:2::9]', '2001:DB8:1:2::7%eth0'],
    ...['[2001:db8:1:2:0:0:0:9%25eth0]:1', '2001:db8:1:2:0:0:0:9:4711'],
  ];

  expect(await statusesOf(service, ofOne)).toEqual(firstOnly(ofOne));
  expect(await statusesOf(service, ofNetwork)).toEqual(firstOnly(ofNetwork));
  expect(await statusesOf(service, ['198.51.100.2:4001', '[2001:db8:1:3::7]:4711'])).toEqual([200, 200]);
});

test.each([
  [
    '1',
    ['unknown', 'unknown1', '_hidden', 'unix:', '198.51.100.999', '198.51.100.1, 0x7f.1', ':80', '[]:80'],
  ],
  ['2', ['10.0.0.7', 'unknown, 10.0.0.7', '_a, 10.0.0.7:4001', '[::ffff:10.0.0.7]:80']],
  ['10.0.0.0/8', ['10.0.0.7', 'unknown1, 10.0.0.7', '198.51.100.1, unknown2, 10.0.0.7', '::ffff:10.0.0.7']],
  ['::ffff:10.0.0.0/104', ['10.0.0.7', 'unknown1, 10.0.0.7', '[::ffff:10.0.0.7]:80']],
  ['10.0.0.1', ['10.0.0.7', 'unknown1, 10.0.0.7', '198.51.100.1, 10.0.0.7:81']],
])('agents K1: behind %s, what is no address counts as the nearest trusted hop', async (trust, forwarded) => {
  expect(await statusesOf(await startCounting(trust), forwarded)).toEqual(firstOnly(forwarded));
});

test('agents K1: policies read the address that limits read', async () => {
  const { app, asDeveloper } = await startApp({ env: { TRUST_PROXY: '10.0.0.0/8' } });
  const acme = await asDeveloper({ mode: 'sandbox' });
  const { agentId } = await registerAgent(acme);
  const policy = { name: 'Not from there', effect: 'deny', networks: ['198.51.100.0/24', '2001:db8::/32'] };
  await acme('POST', '/v1/policies', policy);

  const statuses: Record<string, number> = {};
  for (const forwarded of [
    ...['198.51.100.7:4711', '[2001:db8::7]:4711', '::ffff:198.51.100.7', '198.51.100.7, unknown'],
    ...['203.0.113.7:4711', 'unknown'],
  ]) {
    const { statusCode } = await app.inject({
      ...{ method: 'POST', url: '/v1/authorize', remoteAddress: PROXY },
      headers: { authorization: `Bearer ${acme.apiKey}`, 'x-forwarded-for': forwarded },
      payload: { agentId, principalId: 'user_42', scopes: ['a:b'] },
    });
    statuses[forwarded] = statusCode;
  }

  expect(statuses).toEqual({
    '198.51.100.7:4711': 403,
    '[2001:db8::7]:4711': 403,
    '::ffff:198.51.100.7': 403,
    '198.51.100.7, unknown': 201, // the address of the proxy
    '203.0.113.7:4711': 201,
    unknown: 201,
  });
});
