import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { startAssertingProvider, trustingDeveloper } from '../app/asserting.ts';
import { addProvider, besideUpstream, connectAccount } from '../app/connecting.ts';
import { openSession } from '../app/flow.ts';
import { besideProvider } from '../app/signing-on.ts';
import type { Developer } from '../app/start-app.ts';
import { exchange } from '../app/vault.ts';
import { button, findings, hasNo, heading, pagesOfService, scrollsSideways, sees } from './pages.ts';
import { answer, grant } from './permissions-page/permissions.ts';

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

describe('connections', () => {
  const { visit, service } = pagesOfService(besideUpstream());
  const person = { bypassCSP: true } as const; // axe is a script from outside the page

  /** A person in the sandbox with one agent, and one account at a real authorization server. */
  async function startConnected(name = 'Ledger') {
    const upstream = await startAccountsServer();
    const developer = await service().asDeveloper({ mode: 'sandbox' });
    await developer('PATCH', '/v1/me', { name: 'Acme Books' });
    await addProvider(developer, upstream, { name });
    const agent = await grant(developer, 'Invoice assistant', { scopes: ['files:read'] });
    const { credentialId } = await connectAccount(service(), developer, upstream);
    return { upstream, developer, agent, credentialId };
  }

  const linkFor = async (developer: Developer) => String((await openSession(developer)).json().dashboardUrl);

  test('a person sees the accounts that they connected, and disconnects one', async () => {
    const { developer, agent, credentialId } = await startConnected();
    const page = await visit(person);
    await page.goto(await linkFor(developer));
    await heading(page, 'Your permissions').waitFor();
    const part = page.getByRole('group', { name: 'Ledger' });
    const shown = await part.innerText();
    for (const text of ['ada', 'files:read', 'offline_access', 'Not yet']) expect(shown).toContain(text);
    expect(shown).not.toContain('Connect again');
    const light = await findings(page);

    await button(page, 'Disconnect Ledger').click();
    await sees(page, 'Agents can no longer use this account through Acme Books');
    const question = await findings(page);
    await answer(page, 'Keep it');
    expect((await exchange(service(), agent.grantToken, { service: 'files' })).statusCode).toBe(200);
    await button(page, 'Disconnect Ledger').click();
    await answer(page, 'Disconnect');
    await sees(
      page,
      'Disconnected. This connection no longer gives agents access to your account at Ledger.',
    );

    expect({ light, question, after: await findings(page) }).toEqual({ light: [], question: [], after: [] });
    await hasNo(button(page, 'Disconnect Ledger'));
    expect((await developer('GET', `/v1/vault/credentials/${credentialId}`)).statusCode).toBe(404);
    expect((await exchange(service(), agent.grantToken, { service: 'files' })).statusCode).toBe(404);
  });

  test('O14 the name of a provider is shown as it is, and keeps the layout', async () => {
    const name = `<b>Ledger</b> {developer} ${'W'.repeat(70)}`;
    const { developer } = await startConnected(name);
    const page = await visit({ viewport: { width: 320, height: 640 } });

    await page.goto(await linkFor(developer));
    const part = page.getByRole('group', { name });
    await part.waitFor();

    expect(await part.innerText()).toContain(name);
    expect(await page.locator('main :is(b, img, script)').count()).toBe(0);
    expect(await scrollsSideways(page)).toBe(false);
  });

  test('a person without an active grant still sees their accounts, and disconnects one', async () => {
    const { developer, agent } = await startConnected();
    await developer('DELETE', `/v1/grants/${agent.grantId}`);
    const page = await visit(person);

    await page.goto(await linkFor(developer));
    await button(page, 'Disconnect Ledger').waitFor();
    const found = await findings(page);
    await hasNo(button(page, 'End all'));
    await button(page, 'Disconnect Ledger').click();
    await answer(page, 'Disconnect');
    await sees(
      page,
      'Disconnected. This connection no longer gives agents access to your account at Ledger.',
    );

    expect(found).toEqual([]);
    expect((await openSession(developer)).statusCode).toBe(404); // there is nothing left to end
  });

  test('a person without connected accounts sees nothing of them', async () => {
    const developer = await service().asDeveloper({ mode: 'sandbox' });
    await grant(developer, 'Invoice assistant');
    const page = await visit();

    await page.goto(await linkFor(developer));
    await sees(page, 'Activity in your name');

    expect(await page.locator('main').innerText()).not.toContain('Connected accounts');
  });

  test('a connection that the provider takes no more is said to be over, and is connected again from the page', async () => {
    const { developer, agent, upstream } = await startConnected();
    upstream.behaviour.instead = (request, respond) => {
      if (request.url !== '/token') return false;
      respond(400, { error: 'invalid_grant' });
      return true;
    };
    service().advance(3600); // the upstream keeps the real time, so no later test connects an account
    expect((await exchange(service(), agent.grantToken, { service: 'files' })).statusCode).toBe(409);
    upstream.behaviour.instead = () => false;
    const page = await visit(person);

    await page.goto(await linkFor(developer));
    await sees(page, 'No longer connected');
    const over = await findings(page);
    await button(page, 'Connect again: Ledger').click();
    await heading(page, 'Connect Ledger for Acme Books?').waitFor();

    expect(over).toEqual([]);
  });
});
