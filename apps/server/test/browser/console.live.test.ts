import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { registerAgent } from '../app/flow.ts';
import { consolePages, DESK, PHONE, populated, withSameIds } from './console.ts';
import { button, findings, heading, picture, scrollsSideways, sees } from './pages.ts';

const { signedIn, open, service } = consolePages();

/** The addresses of the streams that the tabs of a browser ask for. */
function streamsOf(page: Page): URL[] {
  const streams: URL[] = [];
  page.context().on('request', (request) => {
    const url = new URL(request.url());
    if (url.pathname === '/v1/events/stream') streams.push(url);
  });
  return streams;
}

const isLive = (page: Page) => page.getByText('Live', { exact: true }).waitFor();
const namesOf = (page: Page) => page.locator('tbody .row-link').allInnerTexts();

test('two tabs share one stream, say what is new without moving a row, and the other goes on when one closes', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await registerAgent(developer, 'First');
  const page = await signedIn(developer, { isLive: true });
  const streams = streamsOf(page);
  const other = await page.context().newPage();
  await open(page, '/agents', 'Agents');
  await isLive(page);
  await open(other, '/agents', 'Agents');
  await isLive(other);

  const place = () => page.locator('tbody tr').first().boundingBox();
  const before = await place();
  await registerAgent(developer, 'Second');
  await button(page, '1 new').waitFor();
  await button(other, '1 new').waitFor();
  const unmoved = [await namesOf(page), await place()];
  await button(other, '1 new').click();
  await sees(other, 'Second');
  const opened = streams.length;
  await open(page, '/events', 'Live events'); // a new document, so the stream is the other tab's
  await expect.poll(() => streams.length).toBe(2);
  await registerAgent(developer, 'Third');
  await button(other, '1 new').click();
  await sees(other, 'Third');
  await sees(page, 'agent.created');

  expect(unmoved).toEqual([['First'], before]);
  expect(opened).toBe(1);
  expect(streams).toHaveLength(2);
  expect(streams[1]?.searchParams.get('lastEventId')).toMatch(/^evt_/);
});

test('without a stream the page says so after ten seconds, and still hears what is new', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer); // its stream is blocked
  await open(page, '/agents', 'Agents');
  await page.clock.runFor(10_000);
  await sees(page, 'Not connected');
  service().advance(30); // its clock stood still, and the browser's did not
  await registerAgent(developer, 'Quiet');

  await page.clock.runFor(30_000);
  await button(page, '1 new').click();

  await sees(page, 'Quiet');
  expect(await namesOf(page)).toEqual(['Quiet']);
});

test('the tail filters by area, and stands still while an event is read', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  await registerAgent(developer, 'First');
  const page = await signedIn(developer, { isLive: true });
  const types = () => page.locator('.tail summary code').allInnerTexts();
  await open(page, '/events', 'Live events');
  await isLive(page);
  await expect.poll(types).toContain('agent.created');

  await page.getByLabel('Types').fill('agent.*');
  await page.keyboard.press('Enter');
  await page.locator('.tail summary').first().click();
  await sees(page, '"name": "First"');
  await registerAgent(developer, 'Second');
  await button(page, 'Follow, 1 new').waitFor();
  const held = await types();
  await button(page, 'Follow, 1 new').click();
  await expect.poll(types).toEqual(['agent.created', 'agent.created']);
  await page.getByRole('link', { name: 'The agent' }).first().click();
  await heading(page, /First|Second/).waitFor();

  expect(held).toEqual(['agent.created']);
});

test('the tail has no fault that axe finds, empty or full, and fits a phone', async () => {
  const developer = await service().asDeveloper({ mode: 'sandbox' });
  const page = await signedIn(developer, { isLive: true, bypassCSP: true, reducedMotion: 'reduce' });
  await open(page, '/events?types=grant.*', 'Live events');
  await sees(page, 'No event of these types');
  const empty = await findings(page);
  await open(page, '/events', 'Live events');
  await isLive(page);
  await populated(developer);
  await sees(page, 'grant.created');
  await page.locator('.tail summary', { hasText: 'grant.created' }).first().click();

  const full: unknown[] = [];
  for (const viewport of [PHONE, DESK]) {
    await page.setViewportSize(viewport);
    full.push(...(await findings(page)), await scrollsSideways(page));
  }

  expect([empty, full]).toEqual([[], [false, false]]);
  await withSameIds(page);
  await picture(page, 'console-events');
});
