import { text } from 'node:stream/consumers';
import type { Locator } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { button, hasNo, heading, holdBack, sees } from './pages.ts';
import {
  agentOf,
  answer,
  grant,
  grantMore,
  isGood,
  openPermissions,
  passOn,
  permissionPages,
} from './permissions-page/permissions.ts';

const { approve, linkFor, visit, service } = permissionPages();

describe('the page of a person', () => {
  test('shows the history of each grant and of all grants, page by page', async () => {
    const { developer, booker, reader } = await approve();
    await developer('PATCH', '/v1/me', { auditPrivateKeys: ['margin'] });
    for (const [at, { agentId, did, grantId }] of [booker, ...Array(25).fill(reader)].entries()) {
      const about = { agentId, agentDid: did, grantId, principalId: 'user_42' };
      const action = at === 0 ? 'flight.booked' : 'mail.read';
      await developer('POST', '/v1/audit/log', { ...about, action, metadata: { price: at, margin: 4711 } });
    }
    const page = await visit();

    await openPermissions(page, await linkFor(developer));
    const booking = agentOf(page, 'Travel booker').first();
    await booking.getByText('Details', { exact: true }).first().click();
    await booking.getByText('History of this permission').first().click();
    const done = booking.locator('> .grant > .status > details');
    await done.getByText('flight.booked').waitFor();
    await done.getByText('Details').first().click();
    const ofBooking = await done.innerText();
    const all = page.locator('details').filter({ has: page.getByText('Activity in your name') });
    await page.getByText('Activity in your name').click();
    await all.getByText('mail.read').first().waitFor();
    const before = await all.locator('> ul > li').count();
    await button(page, 'Show earlier').click();
    await all.getByText('flight.booked').waitFor();
    const after = await all.locator('> ul > li').count();

    expect(ofBooking).toContain('price');
    expect(ofBooking).toContain('Travel booker was allowed to act for you');
    expect(ofBooking).not.toMatch(/margin|4711|mail\.read/);
    expect([before, after]).toEqual([20, 26 + 11]); // the entries written above, and those of the approvals
  });

  test('shows ended grants and the party that ended each, on demand', async () => {
    const { developer, reader } = await approve();
    await developer('DELETE', `/v1/grants/${reader.grantId}`);
    const page = await visit();

    await openPermissions(page, await linkFor(developer));
    await button(page, 'End what Travel booker may do').waitFor(); // the list has come
    const inList = await agentOf(page, 'Mail reader').count();
    await button(page, 'End what Travel booker may do').click();
    await answer(page, 'End it');
    await sees(page, 'Ended, with all that was passed on.'); // the list below is asked for once
    await page.getByText('Permissions that have ended').click();
    const ended = page.locator('details').filter({ has: page.getByText('Permissions that have ended') });
    await ended.locator('> ul > li').nth(2).waitFor(); // the last of the three
    const lines = await ended.locator('> ul > li').allInnerTexts();

    expect(inList).toBe(0);
    const byWhom = lines.map((line) => [line.split('\n')[0], /09:00 UTC, (.*)/.exec(line)?.[1]]);
    expect(byWhom).toHaveLength(3);
    expect(byWhom).toEqual(
      expect.arrayContaining([
        ['Mail reader', 'by Acme'],
        ['Travel booker', 'by you'],
        ['Calendar helper', 'with the permission that it came from'],
      ]),
    );
  });
});

describe('several grants of one agent', () => {
  test('are one card, whose End ends them all', async () => {
    const { developer, reader, booker } = await approve();
    const second = await grantMore(developer, reader.agentId, { scopes: ['email:send'] });
    const page = await visit();

    await openPermissions(page, await linkFor(developer));
    const cards = await page.locator('section.agent').count();
    const rows = await agentOf(page, 'Mail reader').locator('.rows > li').count();
    await button(page, 'End what Mail reader may do').click();
    await sees(page, 'This ends all its 2 permissions.');
    await answer(page, 'End it');
    await sees(page, 'Ended. Mail reader can do nothing more');

    expect([cards, rows]).toEqual([2, 2]);
    const tokens = [reader.grantToken, second, booker.grantToken];
    const good = await Promise.all(tokens.map((token) => isGood(developer, token)));
    expect(good).toEqual([false, false, true]);
  });

  test('end one by one under their details, and what could not be ended is said and stays', async () => {
    const { developer, reader } = await approve();
    const second = await grantMore(developer, reader.agentId, { scopes: ['email:send'] });
    const page = await visit();

    await openPermissions(page, await linkFor(developer));
    const card = agentOf(page, 'Mail reader');
    const first = card.locator('.rows > li').first(); // the one that reaches further
    await first.getByText('Details', { exact: true }).click();
    await first.getByRole('button', { name: 'End only this permission' }).click();
    await answer(page, 'End it');
    await sees(page, 'This permission has ended.');
    const after = await Promise.all([reader.grantToken, second].map((token) => isGood(developer, token)));
    await page.route('**/v1/principal/grants/*', (route) => route.abort(), { times: 1 });
    await button(page, 'End what Mail reader may do').click();
    await answer(page, 'End it');
    await card.getByText('No clear answer came back.').waitFor();
    await button(page, 'End what Mail reader may do').click();
    await answer(page, 'End it');
    await sees(page, 'Ended. Mail reader can do nothing more');

    expect(after).toEqual([true, false]);
    expect(await isGood(developer, reader.grantToken)).toBe(false);
  });
});

test('stopping everything first says what will fall', async () => {
  const { developer } = await approve();
  const page = await visit();

  await openPermissions(page, await linkFor(developer));
  await button(page, 'Stop everything').click();
  const question = await page.getByRole('dialog').innerText();

  expect(question).toContain('Travel booker: 1 permission, and 1 passed on');
  expect(question).toContain('Mail reader: 1 permission');
});

test('the receipt of a grant and all that was delegated from it is downloaded as a page, which the service checks', async () => {
  const { developer, booker } = await approve();
  const page = await visit();

  await openPermissions(page, await linkFor(developer));
  const card = agentOf(page, 'Travel booker').first();
  await card.getByText('Details', { exact: true }).first().click();
  const save = async (within: Locator) => {
    const receipt = within.getByRole('button', { name: 'Download the receipt' });
    const [saved] = await Promise.all([page.waitForEvent('download'), receipt.first().click()]);
    return saved;
  };
  const file = await save(card);
  const html = await text(await file.createReadStream());
  const [, receipt = ''] = /id="receipt">(.*?)<\/script>/.exec(html) ?? [];

  expect(file.suggestedFilename()).toBe(`receipt-${booker.grantId}.html`);
  expect(JSON.parse(receipt)).toMatchObject({
    ...{ format: 'behest.receipt/1', audience: 'principal', rootGrantId: booker.grantId },
    labels: { agents: { [booker.agentId]: 'Travel booker' } },
  });
  await page.getByText('Passed on to another agent').click();
  await agentOf(page, 'Calendar helper').last().getByText('Details', { exact: true }).click();
  await card.getByText('calendar:read').last().waitFor();
  expect(await page.getByRole('button', { name: 'Download the receipt' }).count()).toBe(1); // a delegated grant has none

  await button(page, 'End what Travel booker may do').click();
  await answer(page, 'End it');
  await sees(page, 'Ended, with all that was passed on.'); // the list below is asked for once
  await page.getByText('Permissions that have ended').click();
  const ended = page.locator('li').filter({ hasText: 'by you' });
  const proof = await text(await (await save(ended)).createReadStream());
  const [reader, keys] = [await visit(), await visit()];
  const choose = (page: string) => {
    const chosen = { name: 'receipt.html', mimeType: 'text/html', buffer: Buffer.from(page) };
    return reader.locator('input[type=file]').setInputFiles(chosen);
  };
  await keys.goto(`${service().url}/.well-known/did.json`);
  await reader.goto(`${service().url}/verify`);
  await choose(proof);
  await reader.getByLabel('Keys of the service').fill(await keys.locator('body').innerText());
  await button(reader, 'Check with these keys').click();
  await heading(reader, 'This receipt is genuine').waitFor();
  await sees(reader, /Travel booker · user_42\s*Ended by the person/);
  await choose(proof.replace('"size":', '"size":1'));
  await heading(reader, 'Do not rely on this receipt').waitFor();
});

describe('ending', () => {
  test('a delegated grant leaves its parent, whose question then counts the rest', async () => {
    const { developer, booker, helper } = await approve();
    const page = await visit();

    await openPermissions(page, await linkFor(developer));
    await page.getByText('Passed on to another agent').click();
    await button(page, 'End what Calendar helper may do').click();
    await answer(page, 'End it');
    await sees(page, 'Ended. Calendar helper can do nothing more');
    await button(page, 'End what Travel booker may do').click();
    const question = await page.getByRole('dialog').innerText();

    const good = await Promise.all([booker, helper].map((it) => isGood(developer, it.grantToken)));
    expect(good).toEqual([true, false]);
    expect(question).not.toContain('passed on');
  });

  test('a tree five deep is shown as one, and ends as one', async () => {
    const { developer, booker, helper } = await approve();
    await developer('PATCH', '/v1/me', { maxDelegationDepth: 10 });
    const chain = [helper];
    for (const name of ['Second', 'Third', 'Fourth', 'Fifth']) {
      chain.push(await passOn(developer, String(chain.at(-1)?.grantToken), name));
    }
    const page = await visit();

    await openPermissions(page, await linkFor(developer));
    const depth = await page.locator('.agent .agent .agent .agent .agent .agent').count();
    await button(page, 'End what Travel booker may do').click();
    await sees(page, 'passed on to them: 5 more permissions.');
    await answer(page, 'End it');
    await sees(page, 'Ended, with all that was passed on.');

    expect(depth).toBe(1);
    const tokens = [booker, ...chain].map(({ grantToken }) => isGood(developer, grantToken));
    expect(await Promise.all(tokens)).toEqual(Array(6).fill(false));
  });

  test('everything ends all grants, and leaves the history to read', async () => {
    const { developer, booker, reader, helper } = await approve();
    const other = await grant(developer, 'Stranger', { principalId: 'user_43' });
    const page = await visit();

    await openPermissions(page, await linkFor(developer));
    await button(page, 'Stop everything').click();
    await answer(page, 'Stop everything');
    await heading(page, 'No agent may act for you').waitFor();
    await sees(page, 'Everything has been stopped.');
    await page.getByText('Activity in your name').click();
    await sees(page, 'You ended what Travel booker may do');

    const all = [booker, reader, helper, other].map(({ grantToken }) => isGood(developer, grantToken));
    expect(await Promise.all(all)).toEqual([false, false, false, true]);
    await hasNo(button(page, 'Stop everything'));
  });

  test.each([
    ['keeping it', (page) => button(page, 'Keep it').click()],
    ['Escape', (page) => page.keyboard.press('Escape')],
    ['a second click too soon', (page) => button(page, 'End it').click()],
  ] satisfies [string, (page: import('playwright-core').Page) => Promise<void>][])(
    '%s ends nothing',
    async (_, reply) => {
      const { developer, booker } = await approve();
      const page = await visit();
      const told: string[] = [];
      page.on('request', (request) => told.push(request.method()));

      await openPermissions(page, await linkFor(developer));
      await button(page, 'End what Travel booker may do').click();
      await reply(page);

      expect(await isGood(developer, booker.grantToken)).toBe(true);
      expect(told).not.toContain('DELETE');
    },
  );

  test('without an answer says so, and can be tried again', async () => {
    const { developer, booker } = await approve();
    const page = await visit();

    await openPermissions(page, await linkFor(developer));
    await page.route('**/v1/principal/grants/*', (route) => route.abort(), { times: 1 });
    await button(page, 'End what Travel booker may do').click();
    await answer(page, 'End it');
    await agentOf(page, 'Travel booker').getByText('No clear answer came back.').waitFor();
    const before = await isGood(developer, booker.grantToken);
    await button(page, 'End what Travel booker may do').click();
    await answer(page, 'End it');
    await sees(page, 'Ended, with all that was passed on.');

    expect([before, await isGood(developer, booker.grantToken)]).toEqual([true, false]);
  });

  test('happens once, however often the button is pressed', async () => {
    const { developer } = await approve();
    const page = await visit();
    const told: string[] = [];
    page.on('request', (request) => request.method() === 'DELETE' && told.push(request.url()));

    await openPermissions(page, await linkFor(developer));
    const { letGo } = await holdBack(page, '**/v1/principal/grants/*');
    await button(page, 'End what Mail reader may do').click();
    await answer(page, 'End it');
    await sees(page, 'Ending …');
    await page.locator('[aria-disabled="true"]').click({ force: true });
    const asked = await page.getByRole('dialog').count();
    letGo();
    await sees(page, 'Ended. Mail reader can do nothing more');

    expect([asked, told.length]).toEqual([0, 1]);
  });
});

describe('the session', () => {
  const ENDED = 'This page has been closed';

  test('ends when the person closes it, in other windows too', async () => {
    const { developer } = await approve();
    const [page, second] = [await visit(), await visit()];
    const link = await linkFor(developer);

    await openPermissions(page, link);
    await openPermissions(second, link);
    await button(page, 'Close it now').click();
    await heading(page, 'You have closed this page').waitFor();
    await button(second, 'Stop everything').click();
    await answer(second, 'Stop everything');
    await heading(second, ENDED).waitFor();
    await page.goto(link);

    await heading(page, ENDED).waitFor();
  });

  test('ends when its time is over, and takes the page away', async () => {
    const { developer } = await approve();
    const page = await visit();

    await openPermissions(page, await linkFor(developer));
    await sees(page, 'This page closes today at 10:00 UTC.');
    await page.clock.fastForward('59:30');
    const before = await button(page, 'Stop everything').isVisible();
    await button(page, 'Stop everything').click();
    await page.clock.fastForward('01:00');
    await heading(page, ENDED).waitFor();

    expect(before).toBe(true);
    await hasNo(page.locator('.agent, dialog'));
  });

  test('does not end by a wrong clock in the browser', async () => {
    const { developer } = await approve();
    const page = await visit();
    await page.clock.setSystemTime('2031-01-01T00:00:00Z');

    await openPermissions(page, await linkFor(developer));
    await page.clock.fastForward('05:00');

    await sees(page, 'This page closes today at 10:00 UTC.');
  });

  test.each([
    ['that has run out', (link: string) => link],
    ['that was changed', (link: string) => link.replace(/.{6}$/, 'AAAAAA')],
    ['without its key', (link: string) => link.replace(/#.*/, '')],
  ])('a link %s opens nothing, and the page says what to do', async (kind, change) => {
    const { developer } = await approve();
    const hasRunOut = kind === 'that has run out';
    const link = change(await linkFor(developer, 'user_42', hasRunOut ? '1s' : '1h'));
    if (hasRunOut) service().advance(1);
    const page = await visit();

    await page.goto(link);

    await heading(page, link.includes('#') ? ENDED : 'Show who you are').waitFor();
    await hasNo(page.locator('.agent'));
  });

  test('is gone when the window is reloaded, and comes back with the link in the same tab', async () => {
    const { developer } = await approve();
    const page = await visit();
    const link = await linkFor(developer);

    await openPermissions(page, link);
    await page.reload();
    await heading(page, 'Show who you are').waitFor();
    await page.goto(link);

    await heading(page, 'Your permissions').waitFor();
  });

  test('is asked for again when the service does not answer, and the page says so', async () => {
    const { developer } = await approve();
    const page = await visit();
    await page.route('**/v1/principal/grants?*', (route) => route.abort(), { times: 1 });

    await page.goto(await linkFor(developer));
    await heading(page, 'Your page cannot be opened just now').waitFor();
    await button(page, 'Try again').click();

    await heading(page, 'Your permissions').waitFor();
  });
});
