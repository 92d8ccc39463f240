import { expect, test } from 'vitest';
import { authorize } from '../app/flow.ts';
import { personOn } from '../app/person.ts';
import { consentPages, decide, openRequest, sentTo } from './consent-page/pages.ts';
import { button, hasNo, must, sees } from './pages.ts';

const { ask, visit, service } = consentPages();

const entry = (tools: string[]) => [{ type: 'urn:service:tools:v1', connector: 'stripe', tools }];
const scopes = ['orders:read', 'tool:stripe:write'];

/**
 * A request of an agent to which the person has consented once.
 * @param replaces whether the request replaces the grant of that consent
 */
async function askAgain(first: object, second: object, replaces = false) {
  const { developer, agentId, id, link } = await ask({ mode: 'sandbox', request: first });
  const person = personOn(service());
  await person.open(link);
  const { code } = (await person.approve(id)).json();
  const { grantId } = await must(developer, 'POST', '/v1/token', { code, agentId });
  const replaced = replaces && { replacesGrantId: grantId };
  const asked = await authorize(developer, agentId, { autoApprove: false, ...second, ...replaced });
  return { developer, agentId, id: String(asked.id), link: String(asked.consentUrl) };
}

test('the page says that a request is the first of its agent', async () => {
  const { link } = await ask({ mode: 'sandbox' });
  const page = await visit();

  await openRequest(page, link);

  await sees(page, 'First request from this agent.');
});

test('the page says nothing of earlier requests to a person whom only the link proves', async () => {
  const { link } = await ask();
  const page = await visit();

  await openRequest(page, link);

  await sees(page, 'Permissions');
  expect(await page.getByRole('region', { name: 'Since your last decision' }).count()).toBe(0);
});

test('the page has nothing to keep where every permission is new', async () => {
  const { link } = await askAgain({ scopes: ['mail:read'] }, { scopes: ['files:read'] });
  const page = await visit();

  await openRequest(page, link);
  await sees(page, '+ New: “Read your files” is new.');

  expect(await button(page, 'Only what I allowed before').count()).toBe(0);
});

test('the page says that an approval ends the permission that it replaces', async () => {
  const { developer, agentId, link } = await askAgain({ scopes }, { scopes }, true);
  const page = await visit();

  await openRequest(page, link);
  await sees(page, 'it takes the place of that permission, which ends.');
  await decide(page, 'Allow', 'Allowed');

  const { link: plain } = await askAgain({ scopes }, { scopes });
  await openRequest(page, plain);
  await sees(page, /^The same as you allowed/);
  await hasNo(page.getByText('takes the place of'));
  expect((await must(developer, 'GET', `/v1/grants?agentId=${agentId}`)).grants).toHaveLength(1);
});

test('the page says what is new and what is gone above the permissions, in words and with marks', async () => {
  const { developer, agentId, link } = await askAgain(
    { scopes: [...scopes, 'mail:read'], authorizationDetails: entry(['refund']) },
    {
      scopes: [...scopes, 'files:read'],
      authorizationDetails: entry(['refund', 'payout']),
      purpose: 'payments.payout',
    },
  );
  await must(developer, 'PATCH', `/v1/agents/${agentId}`, { name: '<b>Helper</b>' });
  const page = await visit();

  await openRequest(page, link);
  const region = page.getByRole('region', { name: 'Since your last decision' });
  const atOnce = await region.innerText();
  await page.getByText('Compare').click();
  const shown = await region.innerText();
  const whole = await page.locator('main').innerText();

  for (const text of [
    'Not the same as you allowed',
    '+ New: “Read your files” is new.',
    '↑ More: “payout” of “stripe” is a tool that you did not allow before.',
    '≠ Changed: The name of the agent has changed.',
    '<b>Helper</b>',
    '↓ Less: A purpose limits the use',
    '− Gone: “Read your mail” is no longer asked for in full.',
  ]) {
    expect(shown).toContain(text);
  }
  expect(shown).toMatch(/Before:\W+Travel booker\W+Now:\W+b>Helper/); // in quotation marks
  expect(atOnce).toContain('New: “Read your files” is new.');
  expect(atOnce).not.toContain('Gone:');
  expect(shown.indexOf('New:')).toBeLessThan(shown.indexOf('Gone:'));
  expect(whole.indexOf('Since your last decision')).toBeLessThan(whole.indexOf('Until'));
});

test('“Only what I allowed before” takes away what is new, and the person still decides', async () => {
  const { link, developer, id } = await askAgain(
    { scopes, authorizationDetails: entry(['refund']), expiresIn: '2h' },
    { scopes: [...scopes, 'files:read'], authorizationDetails: entry(['refund', 'payout']), expiresIn: '3h' },
  );
  const page = await visit();
  const approvals = sentTo(page, 'approve');

  await openRequest(page, link);
  const isKept = (name: RegExp) => page.getByRole('checkbox', { name }).isChecked();
  const before = [await isKept(/Read your files/), await isKept(/payout/)];
  await button(page, 'Only what I allowed before').click();
  const after = [await isKept(/Read your files/), await isKept(/payout/), await isKept(/Read your orders/)];
  const undecided = (await must(developer, 'GET', `/v1/authorize/${id}`)).status;
  await decide(page, 'Allow', 'Allowed');

  expect([before, after, undecided]).toEqual([[true, true], [false, false, true], 'pending']);
  expect(approvals).toEqual([
    {
      scopes,
      expiresIn: '2h',
      tools: { stripe: ['refund'] },
      manifests: [{ connector: 'stripe', sha256: null }],
    },
  ]);
});

test('an unchanged request is said to be the same, and waits for the click', async () => {
  const { link, developer, agentId, id } = await askAgain({ scopes }, { scopes });
  const { code } = await authorize(developer, agentId, { scopes });
  await must(developer, 'POST', '/v1/token', { code, agentId });
  const page = await visit();

  await openRequest(page, link);
  await sees(page, /^The same as you allowed/);
  await page.getByText('Compare').click();
  await sees(page, 'That permission still holds. One more permission of this agent holds.');
  await sees(page, '= Same: The permission lasts about as long as before.');

  expect(await button(page, 'Only what I allowed before').count()).toBe(0);
  expect((await must(developer, 'GET', `/v1/authorize/${id}`)).status).toBe('pending');
});
