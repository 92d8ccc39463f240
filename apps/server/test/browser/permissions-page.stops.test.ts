import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { startAssertingProvider, trustingDeveloper } from '../app/asserting.ts';
import { openSession } from '../app/flow.ts';
import { besideProvider } from '../app/signing-on.ts';
import { button, findings, hasNo, pagesOfService, scrollsSideways, sees } from './pages.ts';
import { answer } from './permissions-page/permissions.ts';

const ADA = 'ada@upstream.test';
const startsAt = `${new Date().toISOString().slice(0, 19)}Z`; // tokens count in whole seconds
const { visit, service } = pagesOfService({ ...besideProvider(), startsAt });
const person = { bypassCSP: true } as const; // axe is a script from outside the page

/** A person for whom an identity provider has let an agent act. */
async function startTrusted() {
  const provider = await startAssertingProvider(service());
  const trusted = await trustingDeveloper(service(), provider);
  await trusted.acme('PATCH', '/v1/me', { name: 'Acme Books' });
  await trusted.acme('PATCH', `/v1/agents/${trusted.client.clientId}`, { name: 'Invoice assistant' });
  return trusted;
}

const open = async (page: Page, { acme }: Pick<Awaited<ReturnType<typeof startTrusted>>, 'acme'>) => {
  await page.goto(String((await openSession(acme, ADA)).json().dashboardUrl));
  await sees(page, 'Activity in your name');
};

test('a person who ended an agent of their identity provider sees that it stays ended, and lets it come back', async () => {
  const trusted = await startTrusted();
  await trusted.token();
  const page = await visit(person);
  await open(page, trusted);
  await hasNo(page.getByText('Agents that stay ended'));
  await button(page, 'End what Invoice assistant may do').click();
  await answer(page, 'End it');
  await sees(page, 'Ended. Invoice assistant can do nothing more for you with this.');
  expect(await trusted.outcome()).toBe('access_denied stopped');

  await open(page, trusted);
  const part = page.getByRole('group', { name: 'Invoice assistant' });
  await sees(page, 'Agents that stay ended');
  expect(await part.innerText()).toContain('You');
  expect(await findings(page)).toEqual([]);
  await button(page, 'Let it come back: Invoice assistant').click();
  await answer(page, 'Keep it ended');
  expect(await trusted.outcome()).toBe('access_denied stopped');
  await button(page, 'Let it come back: Invoice assistant').click();
  expect(await findings(page)).toEqual([]);
  await answer(page, 'Let it come back');

  await sees(page, 'The identity provider may let Invoice assistant act for you again.');
  await hasNo(page.getByText('Agents that stay ended'));
  expect(await trusted.outcome()).toBe('200');
});

test('M16 a stop of the developer is shown, and nobody lifts it here', async () => {
  const trusted = await startTrusted();
  const { 'urn:service:grant': grant } = await trusted.token();
  await trusted.acme('DELETE', `/v1/grants/${grant.grant_id}`);
  const page = await visit({ viewport: { width: 320, height: 640 } });

  await open(page, trusted);

  await sees(page, 'Acme Books, who alone can change this');
  expect(await button(page, 'Let it come back: Invoice assistant').count()).toBe(0);
  expect(await scrollsSideways(page)).toBe(false);
});
