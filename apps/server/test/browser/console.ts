import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import { act, detect } from '../app/anomalies.ts';
import { enrolApprover, payer, release } from '../app/approving.ts';
import { grantTo } from '../app/flow.ts';
import type { Developer, Service, TestOptions } from '../app/start-app.ts';
import { findings, heading, must, pagesOfService, scrollsSideways, type Visit } from './pages.ts';

/** The sizes at which each page is looked at. */
export const PHONE = { width: 320, height: 720 } as const;
export const DESK = { width: 1280, height: 800 } as const;

/** What Chromium says when playwright looks into the frame of a preview, in which no script runs. */
const expected = /^Blocked script execution in 'about:blank' because the document's frame is sandboxed/;

interface SignedIn extends Visit {
  /** With the stream of events. Without it the network becomes quiet, which a test can wait for. */
  readonly isLive?: true;
}

export function consolePages(options: TestOptions = {}) {
  const { visit, service } = pagesOfService(options);

  /** A browser that is signed in to the console of an account, by a link of it. */
  async function signedIn(developer: Developer, { isLive, ...wishes }: SignedIn = {}): Promise<Page> {
    const page = await visit({ viewport: DESK, expected, ...wishes });
    if (!isLive) await withoutStream(page);
    const who = { displayName: 'Ada Lovelace', email: 'ada@acme.example' };
    const { url } = await must(developer, 'POST', '/v1/console/session/links', who);
    await page.goto(url);
    await heading(page, 'Overview').waitFor();
    return page;
  }

  /** Opens a page of the console, and waits until it is there. */
  async function open(page: Page, path: string, title: string | RegExp): Promise<void> {
    await page.goto(`${service().url}/console${path}`);
    await heading(page, title).waitFor();
  }

  return { visit, signedIn, open, service };
}

/** Blocks the stream in the browser, because a route of playwright's would also empty the cache. */
async function withoutStream(page: Page): Promise<void> {
  const browser = await page.context().newCDPSession(page);
  await browser.send('Network.enable');
  await browser.send('Network.setBlockedURLs', { urls: ['*/v1/events/stream*'] });
  onTestFinished(() => browser.detach());
}

/** The faults of a page in both themes, on a desk and on a phone, and whether it scrolls sideways. */
export async function faultsOf(page: Page): Promise<unknown[]> {
  const faults: unknown[] = [];
  for (const viewport of [PHONE, DESK]) {
    await page.setViewportSize(viewport);
    if (await scrollsSideways(page)) faults.push(`${viewport.width} px scroll sideways`);
    for (const text of await codeOutside(page)) faults.push(`${viewport.width} px: ${text} leaves its card`);
    faults.push(...(await findings(page)));
  }
  return faults;
}

/** The code and tables that are wider than the card in which they stand. */
const codeOutside = (page: Page): Promise<string[]> =>
  page.evaluate(`
    [...document.querySelectorAll('.panel :is(.code, .json, .table-frame, .plain-table), .empty .code')]
      .filter((each) => {
        const [inner, outer] = [each, each.closest('.panel, .empty')].map((box) => box.getBoundingClientRect());
        return inner.width > 0 && (inner.right > outer.right || inner.left < outer.left);
      })
      .map((each) => each.textContent.slice(0, 40))
  `);

/** Shows the same id for every record, so that a picture changes only when the page does. */
export const withSameIds = (page: Page) =>
  page.evaluate(`
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
      const text = texts.currentNode;
      text.data = text.data
        .replaceAll(/[0-9A-HJKMNP-TV-Z]{26}/g, '01KJQX7M4B9T2ZC8V5N3R6W0YA')
        .replaceAll(/_01[0-9A-Z]+…[0-9A-Z]{6}/g, '_01KJQX…6W0YA2')
        .replaceAll(/[0-9A-Z]{6}$/g, (end) => (text.data.includes('…') ? '6W0YA2' : end))
        .replaceAll(/localhost:\\d+/g, 'auth.behest.example')
        .replaceAll(/http:.\\/127.0.0.1:\\d+.hook/g, 'https://hooks.acme.example/behest')
        .replaceAll(/\\d+ seconds? ago/g, '2 minutes ago');
    }
  `);

/** An account with something on every page: three agents, grants with a budget and a cap, and a delegation. */
export async function populated(developer: Developer) {
  const names = ['Travel booker', 'Mail reader', 'Expense clerk'];
  const scopes = ['calendar:read', 'email:send', 'files:read', 'tool:acme_pay:write'];
  const agents: { agentId: string }[] = [];
  for (const name of names) agents.push(await must(developer, 'POST', '/v1/agents', { name, scopes }));
  const [booker, reader, clerk] = agents.map(({ agentId }) => agentId);
  const ask = async (agentId: string | undefined, principalId: string, more: object = {}) => {
    const asked = { agentId, principalId, scopes: ['calendar:read', 'email:send'], ...more };
    const { code } = await must(developer, 'POST', '/v1/authorize', asked);
    return must(developer, 'POST', '/v1/token', { agentId, code });
  };
  const tools = { transfer: 'write', get_balance: 'read' };
  await must(developer, 'PUT', '/v1/manifests/acme_pay', { connector: 'acme_pay', version: '1.0.0', tools });
  const { grantId, grantToken } = await ask(booker, 'user_42', {
    scopes: ['calendar:read', 'email:send', 'tool:acme_pay:write'],
    purpose: 'payments.payout',
    budget: { amount: '200.00', currency: 'EUR' },
    authorizationDetails: [
      {
        type: 'urn:service:tools:v1',
        connector: 'acme_pay',
        tools: ['transfer', 'get_balance'],
        caps: { transfer: { per_day: 5 } },
      },
    ],
  });
  await ask(reader, 'user_42');
  await ask(clerk, 'user_7', { scopes: ['files:read'] });
  await must(developer, 'POST', '/v1/tokens/verify', { token: grantToken });
  for (const amount of ['20.00', '12.50']) {
    const call = { grantToken, connector: 'acme_pay', tool: 'transfer', arguments: { amount } };
    await must(developer, 'POST', '/v1/enforce', call);
  }
  await must(developer, 'POST', '/v1/budget/debit', {
    grantId,
    amount: '32.50',
    description: 'Two payments',
  });
  const delegated = await must(developer, 'POST', '/v1/grants/delegate', {
    parentGrantToken: grantToken,
    subAgentId: reader,
    scopes: ['calendar:read', 'tool:acme_pay:read'],
    budget: { amount: '50.00', currency: 'EUR' },
  });
  return { agentId: String(booker), grantId: String(grantId), delegatedId: String(delegated.grantId) };
}

/** A call that one of two people has approved, and an alert about it. */
export async function undecided(service: Service, developer: Developer) {
  const payment = await payer(developer);
  const [ada] = [
    await enrolApprover(service, developer, 'ada@acme.example', { groups: ['finance'] }),
    await enrolApprover(service, developer, 'bob@acme.example'),
  ];
  const asked = await payment.ask({ ...release, caseId: 'payout-7' });
  if (asked.statusCode >= 300) throw new Error(asked.body);
  const { decisionId } = asked.json();
  await ada.signIn();
  await ada.approve(decisionId);
  await act(developer, await grantTo(developer), 60);
  const [alert] = (await detect(developer)).anomalies;
  return { decisionId: String(decisionId), alertId: String(alert?.id) };
}

/** Calls that were denied by a cap, a policy, a scope and a manifest, and requests that failed. */
export async function refusedCalls(developer: Developer) {
  const tools = { transfer: { permission: 'write', caps: { per_day: 2 } }, refund: 'write', close: 'admin' };
  await must(developer, 'PUT', '/v1/manifests/acme_pay', { connector: 'acme_pay', version: '1.0.0', tools });
  const { id: policyId } = await must(developer, 'POST', '/v1/policies', {
    ...{ name: 'No refunds by agents', effect: 'deny', connector: 'acme_pay', tools: ['refund'] },
  });
  const { agentId } = await must(developer, 'POST', '/v1/agents', { name: 'Travel booker' });
  const asked = { agentId, principalId: 'user_42', scopes: ['tool:acme_pay:write'] };
  const { code } = await must(developer, 'POST', '/v1/authorize', asked);
  const { grantToken } = await must(developer, 'POST', '/v1/token', { agentId, code });
  const ask = async (tool: string) => {
    const call = { grantToken, connector: 'acme_pay', tool, arguments: { iban: 'iban-of-ada' } };
    return must(developer, 'POST', '/v1/enforce', call);
  };
  for (const tool of ['close', 'freeze', 'refund', 'refund', 'transfer', 'transfer']) await ask(tool);
  for (let call = 0; call < 3; call += 1) await ask('transfer');
  const missing = await developer('GET', `/v1/agents/ag_${'0'.repeat(26)}`);
  return { agentId: String(agentId), policyId: String(policyId), ask, requestId: missing.json().requestId };
}
