import { expect, test } from 'vitest';
import { authenticator } from '../../../../test/app/authenticator.ts';
import {
  type ConsoleBrowser,
  consoleBrowser,
  joinBy,
  memberOf,
  signInByKey,
} from '../../../../test/app/console.ts';
import { registerAgent } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { follow } from '../../../../test/app/streams.ts';

async function started() {
  const service = await startListening();
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const ada = await memberOf(service, acme);
  const followAs = (headers: Readonly<Record<string, string>>) => follow({ url: service.url, headers });
  return { service, acme, ada, followAs };
}

test('streams of members and of API keys take no seats from each other, and a member has four', async () => {
  const { service, acme, ada, followAs } = await started();
  const people: ConsoleBrowser[] = [ada];
  for (const name of ['b', 'c', 'd', 'e', 'f']) {
    const browser = consoleBrowser(service);
    await signInByKey(browser, acme, { displayName: name, email: `${name}@acme.example` });
    people.push(browser);
  }

  const keys = [];
  for (let each = 0; each < 6; each += 1) keys.push(await follow({ url: service.url, apiKey: acme.apiKey }));
  const members = [];
  for (const [at, seats] of [5, 4, 4, 4, 4, 1].entries()) {
    const browser = people[at] ?? ada;
    for (let each = 0; each < seats; each += 1) members.push(await followAs(browser.headers()));
  }

  expect(keys.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
  const statuses = members.map(({ status }) => status);
  expect(statuses).toEqual([...Array(4).fill(200), 429, ...Array(16).fill(200), 429]);
  await registerAgent(acme);
  expect(await members[0]?.first(1)).toHaveLength(1);
  expect(await keys[0]?.first(1)).toHaveLength(1);
});

test.each([
  ['is suspended', 'PATCH', '', { status: 'suspended' }],
  ['gets another role', 'PATCH', '', { role: 'auditor' }],
  ['is removed', 'DELETE', '', undefined],
  ['signs out', 'DELETE', 'own', undefined],
] as const)(
  'the stream of a member who %s ends within seconds, also on another instance, and no other does',
  async (_, method, whose, body) => {
    const { service, acme, ada, followAs } = await started();
    const other = await startListening({ databaseUrl: service.databaseUrl });
    const made = await ada.call('POST', '/v1/members/invitations', {
      body: { email: 'bob@acme.example', role: 'operator' },
    });
    const bob = await joinBy(
      service,
      made.json().link,
      authenticator({ origin: service.url, rpId: 'localhost' }),
    );
    const own = { ...bob.browser.headers() };
    const streams = [
      await followAs(own),
      await follow({ url: other.url, headers: { ...own, origin: service.url } }),
    ];
    const still = await followAs(ada.headers());

    const answer =
      whose === 'own'
        ? await bob.browser.call('DELETE', '/v1/console/session')
        : await ada.call(method, `/v1/members/${bob.opened.json().member.id}`, body && { body });
    service.advance(3);
    other.advance(3);

    expect(answer.statusCode).toBeLessThan(300);
    expect(await Promise.all(streams.map(({ ended }) => ended))).toEqual(['ended', 'ended']);
    await registerAgent(acme);
    expect((await still.first(1)).length).toBeGreaterThan(0);
  },
);
