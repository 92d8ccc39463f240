import type { Page } from 'playwright-core';
import { authorize, openSession, registerAgent } from '../../app/flow.ts';
import type { Developer, TestOptions } from '../../app/start-app.ts';
import { heading, must, pagesOfService } from '../pages.ts';

/** A question takes a yes only after it has been open for this time. */
const ARMING = 500;

/** A service and browsers, with grants from a person. */
export function permissionPages(options: TestOptions = {}) {
  const pages = pagesOfService(options);

  /**
   * A developer with a person who approved the requests of two agents, the first of which delegates to a
   * third.
   */
  async function approve(principalId = 'user_42') {
    const developer = await pages.service().asDeveloper({ mode: 'sandbox' });
    const booker = await grant(developer, 'Travel booker', { principalId });
    const reader = await grant(developer, 'Mail reader', { principalId, scopes: ['email:read'] });
    const helper = await passOn(developer, booker.grantToken, 'Calendar helper');
    return { developer, principalId, booker, reader, helper };
  }

  /** The link to the page, as the developer's app hands it on. */
  async function linkFor(developer: Developer, principalId = 'user_42', expiresIn?: string) {
    const answer = await openSession(developer, principalId, expiresIn);
    if (answer.statusCode !== 201) throw new Error(answer.body);
    return String(answer.json().dashboardUrl);
  }

  return { ...pages, approve, linkFor };
}

export async function grant(developer: Developer, name: string, request: object = {}) {
  const { agentId, did } = await registerAgent(developer, name);
  const { code } = await authorize(developer, agentId, request);
  const { grantId, grantToken } = await must(developer, 'POST', '/v1/token', { code, agentId });
  return { agentId, did, grantId: String(grantId), grantToken: String(grantToken) };
}

/** Gives one more grant to an agent. @returns its token */
export async function grantMore(developer: Developer, agentId: string, request: object): Promise<string> {
  const { code } = await authorize(developer, agentId, request);
  return (await must(developer, 'POST', '/v1/token', { code, agentId })).grantToken;
}

export async function passOn(
  developer: Developer,
  parentGrantToken: string,
  name: string,
  scopes = ['calendar:read'],
) {
  const { agentId, did } = await registerAgent(developer, name);
  const asked = { parentGrantToken, subAgentId: agentId, scopes };
  const { grantId, grantToken } = await must(developer, 'POST', '/v1/grants/delegate', asked);
  return { agentId, did, grantId: String(grantId), grantToken: String(grantToken) };
}

/** Opens a link and waits for the grants on the page. */
export async function openPermissions(page: Page, link: string) {
  await page.goto(link);
  await heading(page, 'Your permissions').waitFor();
}

/** The part of the page for one agent, with the grants delegated from its own. */
export const agentOf = (page: Page, agent: string) =>
  page.locator('.agent').filter({ has: page.locator('> .title > :is(h2, h3)', { hasText: agent }) });

/** Opens everything that is one tap away in a card, as a careful reader does. */
export const openAll = (page: Page) =>
  page.evaluate("for (const part of document.querySelectorAll('.agent details')) part.open = true");

/** Answers the open question like a person who has read it. */
export async function answer(page: Page, name: string) {
  await page.clock.fastForward(ARMING);
  await page.getByRole('dialog').getByRole('button', { name, exact: true }).click();
}

export const isGood = async (developer: Developer, token: string): Promise<boolean> =>
  (await must(developer, 'POST', '/v1/tokens/verify', { token })).valid;
