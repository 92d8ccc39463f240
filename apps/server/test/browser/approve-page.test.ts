import { expect, test } from 'vitest';
import { payer, release } from '../app/approving.ts';
import { brand, brandOn, button, findings, heading, pagesOfService, sees } from './pages.ts';
import { enrolledAs } from './passkeys.ts';

const { visit, service } = pagesOfService();
const enrolled = enrolledAs(visit);

test('R10: two people with two authenticators see the exact call, sign it, and it runs once', async () => {
  const acme = await service().asDeveloper({ mode: 'sandbox' });
  const agent = await payer(acme);
  const [ada, bob] = [await enrolled(acme, 'Ada'), await enrolled(acme, 'Bob')];
  const args = { ...release.arguments, currency: 'EUR', note: 'a\u202eb' };
  const asked = (await agent.ask({ ...release, arguments: args, summary: 'Pay the rent' })).json();
  expect((await agent.enforce({ ...release, arguments: args })).sub_reason).toBe(null);

  await sees(ada, /wants to use wire of acme_bank/);
  expect(await findings(ada)).toEqual([]);
  await button(ada, 'The call').click();
  await heading(ada, /asks to use/).waitFor();
  await sees(ada, '9,000 EUR');
  await ada.getByText('Details').click();
  await sees(ada, '"amount": "9000"');
  await sees(ada, 'U+202E');
  await sees(ada, 'Pay the rent');
  expect(await findings(ada)).toEqual([]);
  const hash = (await ada.locator('#hash').innerText()).replaceAll(' ', '');
  expect(`sha256:${hash}`).toBe(asked.actionHash);
  await button(ada, 'Approve').click();
  await heading(ada, 'You approved the call').waitFor();
  await sees(ada, 'A second person has to approve');

  await brand(acme);
  await bob.goto(asked.url);
  await heading(bob, /asks to use/).waitFor();
  await sees(bob, 'A second person has to approve it too.');
  expect(await brandOn(bob, 'Approve')).toEqual({
    logo: [96, 32, true],
    name: 'Acme',
    fill: 'rgb(122, 31, 92)',
  });
  await button(bob, 'Approve').click();
  await sees(bob, 'The agent can make exactly this call now, once.');

  const decisionGrants = await agent.grantsOf(asked.decisionId);
  const call = { ...release, arguments: args, decisionGrants };
  expect(await agent.enforce(call)).toMatchObject({ allowed: true });
  expect(await agent.enforce(call)).toMatchObject({ allowed: false, sub_reason: 'consumed' });
});
