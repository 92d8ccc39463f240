import { expect, test } from 'vitest';
import { entriesOf } from '../app/flow.ts';
import { button, hasNo, sees } from './pages.ts';
import {
  agentOf,
  answer,
  grant,
  isGood,
  openAll,
  openPermissions,
  permissionPages,
} from './permissions-page/permissions.ts';

const { approve, linkFor, visit } = permissionPages();

test('the page shows each grant in words and exactly, delegated grants below it, and no other person’s grants', async () => {
  const { developer, booker } = await approve();
  await grant(developer, 'Stranger', { principalId: 'user_43' });
  const page = await visit();

  await openPermissions(page, await linkFor(developer));
  const lines = await agentOf(page, 'Travel booker').locator('> .grant > ul > li').allInnerTexts();
  const closed = await page.locator('main').innerText();
  await openAll(page);
  const shown = await agentOf(page, 'Travel booker').first().innerText();
  const helper = await agentOf(page, 'Travel booker').locator('.agent').innerText();
  const all = await page.locator('main').innerText();

  expect(lines).toEqual(['Send email in your name', 'Read your calendar']);
  expect(closed).not.toMatch(/calendar:read|Calendar helper|did:web/);
  for (const text of ['Read your calendar', 'calendar:read', 'email:send', booker.did]) {
    expect(shown).toContain(text);
  }
  expect(helper).toContain('Calendar helper');
  expect(helper).not.toContain('email:send');
  expect(all).toContain('For user_42');
  expect(all).toContain('Mail reader');
  expect(all).toContain('This is a test account.');
  expect(all).not.toContain('Stranger');
});

test('ending one grant ends the grants delegated from it, and leaves the others', async () => {
  const { developer, booker, reader, helper } = await approve();
  const page = await visit();

  await openPermissions(page, await linkFor(developer));
  await button(page, 'End what Travel booker may do').click();
  await sees(page, 'Other agents lose what this agent passed on to them: 1 more.');
  await answer(page, 'End it');
  await sees(page, 'Ended, with all that was passed on.');

  const good = await Promise.all([booker, helper, reader].map((it) => isGood(developer, it.grantToken)));
  expect(good).toEqual([false, false, true]);
  await hasNo(agentOf(page, 'Calendar helper'));
  const entries = await entriesOf(developer, 'grant.revoked');
  expect(entries.map(({ grantId, metadata }) => [grantId, metadata.reason, metadata.revokedBy])).toEqual([
    [booker.grantId, 'principal', 'principal'],
    [helper.grantId, 'parent', 'principal'],
  ]);
});
