import { describe, expect, test } from 'vitest';
import { actionsOf, authorize } from '../app/flow.ts';
import { answerAsApp, consentPages, decide, openRequest, RETURN_TO, sentTo } from './consent-page/pages.ts';
import { button, hasNo, heading, holdBack, must, sees } from './pages.ts';

const LIMIT = 40; // for a request; an address has four times as many
const { ask, visit, service } = consentPages({ env: { RATE_LIMIT_CONSENT: String(LIMIT) } });

const LOST = 'This window has lost the request';

describe('time', () => {
  test('an open page warns before its request ends, and says when it has ended', async () => {
    const { link } = await ask();
    const page = await visit();

    await openRequest(page, link);
    await sees(page, 'You can decide until today at 10:00 UTC.');
    await page.clock.fastForward('58:30');
    await sees(page, 'This request ends soon: today at 10:00 UTC.');
    await page.clock.fastForward('02:00');

    await heading(page, 'This request has ended').waitFor();
    await sees(page, 'Nobody decided in time, so nothing was granted.');
  });

  test('a wrong clock in the browser ends nothing', async () => {
    const { link } = await ask();
    const page = await visit();
    await page.clock.setSystemTime('2031-01-01T00:00:00Z');

    await openRequest(page, link);
    await page.clock.fastForward('05:00');

    await sees(page, 'You can decide until today at 10:00 UTC.');
  });

  test.each(['Allow', 'Deny'] as const)('%s after the end shows that the request is over', async (how) => {
    const { link } = await ask({ request: { consentExpiresIn: '5m' } });
    const page = await visit();

    await openRequest(page, link);
    service().advance(301);
    await decide(page, how, 'This request has ended');
    await page.goto(link);

    await heading(page, 'This request has ended').waitFor();
  });
});

describe('more than one window', () => {
  test('two requests in two tabs do not disturb each other', async () => {
    const { developer, agentId, link, record } = await ask();
    const other = await authorize(developer, agentId, { principalId: 'user_7' });
    const page = await visit();
    const second = await page.context().newPage();

    await openRequest(page, link);
    await openRequest(second, other.consentUrl);
    await decide(second, 'Deny', 'Denied');
    await page.bringToFront();
    await decide(page, 'Allow', 'Allowed');

    expect((await record()).status).toBe('approved');
    expect((await must(developer, 'GET', `/v1/authorize/${other.id}`)).status).toBe('denied');
  });

  test('a second browser takes the request over, and the first says so and can take it back', async () => {
    const { link, record } = await ask();
    const [page, second] = [await visit(), await visit()];

    await openRequest(page, link);
    await openRequest(second, link);
    await decide(page, 'Allow', LOST);
    const before = (await record()).status;
    await button(page, 'Try again').click();
    await decide(page, 'Allow', 'Allowed');
    await decide(second, 'Deny', LOST);
    await button(second, 'Try again').click();
    await heading(second, 'This request was approved').waitFor();

    expect([before, (await record()).status]).toEqual(['pending', 'approved']);
  });

  test('a second tab takes the session over, and the first keeps its selection and can go on', async () => {
    const { link, vouchedLink, grant } = await ask({ hasKey: true });
    const page = await visit();

    await openRequest(page, await vouchedLink());
    await page.getByRole('checkbox', { name: /email/ }).uncheck();
    const second = await page.context().newPage();
    await openRequest(second, link);
    await page.context().clearCookies();
    const third = await page.context().newPage();
    await openRequest(third, await vouchedLink());
    await page.bringToFront();
    await decide(page, 'Allow');
    await sees(page, 'Another window has opened this request.');
    await button(page, 'Use this window').click();
    await sees(page, 'You can decide now.');
    await decide(page, 'Allow', 'Allowed');

    expect((await grant()).scopes).toEqual(['calendar:read']);
  });

  test('a reload shows the request again without the ticket', async () => {
    const { link } = await ask();
    const page = await visit();
    const openings = sentTo(page, 'session');

    await openRequest(page, link);
    await page.reload();
    await decide(page, 'Allow', 'Allowed');
    await page.reload();

    await heading(page, 'This request was approved').waitFor();
    expect(openings).toHaveLength(1);
    expect(page.url()).toBe(link.replace(/#.*/, ''));
  });

  test.each([
    ['Allow', 'This request was approved'],
    ['Deny', 'This request was denied'],
  ] as const)('back after %s shows how it was decided, and no buttons', async (how, title) => {
    const { link } = await ask({ request: { redirectUri: RETURN_TO } });
    const page = await visit();
    await answerAsApp(page);

    await openRequest(page, link);
    await decide(page, how);
    await page.waitForURL(`${RETURN_TO}?**`);
    await page.goBack();

    await heading(page, title).waitFor();
    await hasNo(page.getByRole('button'));
  });
});

describe('the page says that the request was decided', () => {
  test('by the developer, in the sandbox', async () => {
    const { developer, link, id } = await ask({ mode: 'sandbox' });
    const page = await visit();

    await openRequest(page, link);
    await must(developer, 'POST', `/v1/authorize/${id}/approve`);

    await decide(page, 'Deny', 'This request was approved');
  });

  test('by the developer, who withdrew it', async () => {
    const { developer, link, id } = await ask();
    const page = await visit();

    await openRequest(page, link);
    await developer('DELETE', `/v1/authorize/${id}`);

    await decide(page, 'Allow', 'This request was withdrawn');
  });

  test('by the revocation of the agent', async () => {
    const { developer, link, agentId } = await ask();
    const page = await visit();

    await openRequest(page, link);
    await developer('DELETE', `/v1/agents/${agentId}`);

    await decide(page, 'Allow', /^This request (was withdrawn|is over)$/);
  });

  test('by an approval whose code was exchanged', async () => {
    const { developer, link, id, grant } = await ask({ mode: 'sandbox' });
    const page = await visit();

    await openRequest(page, link);
    const { code } = await must(developer, 'POST', `/v1/authorize/${id}/approve`);
    await grant(code);
    await page.reload();

    await heading(page, 'This request was approved').waitFor();
    await sees(page, 'It is in use already.');
  });
});

describe('the page tells a loss', () => {
  test('in a window whose session is lost, which can open the request again', async () => {
    const { link, id } = await ask();
    const page = await visit();

    await openRequest(page, link);
    await service().store.remove(`bh:{${id}}:session`);
    await decide(page, 'Allow', LOST);
    await button(page, 'Try again').click();

    await decide(page, 'Allow', 'Allowed');
  });

  test('in a window whose ticket is lost too, which cannot', async () => {
    const { link, id } = await ask();
    const page = await visit();

    await openRequest(page, link);
    await service().store.remove(`bh:{${id}}:session`);
    await service().store.remove(`bh:{${id}}:ticket`);
    await decide(page, 'Allow', LOST);
    await button(page, 'Try again').click();

    await heading(page, 'There is no such request').waitFor();
  });

  test.each([
    ['', 'This link is not complete'],
    ['?req=areq_a/../x', 'This link is not complete'],
    ['?req=areq_00000000000000000000000000', 'Please open the link again'],
    ['?req=areq_00000000000000000000000000#ticket=x', 'There is no such request'],
  ])('for the bad link /consent%s', async (rest, title) => {
    const page = await visit();

    await page.goto(`${service().url}/consent${rest}`);

    await heading(page, title).waitFor();
    expect(page.url()).not.toContain('#');
  });
});

describe('a service', () => {
  test('leaves the selection when it does not answer, and a second try is enough', async () => {
    const { link, grant } = await ask();
    const page = await visit();
    await page.route('**/approve', (route) => route.abort(), { times: 1 });

    await openRequest(page, link);
    await page.getByRole('checkbox', { name: /email/ }).uncheck();
    await decide(page, 'Allow');
    await sees(page, 'No clear answer came back');
    await button(page, 'Try again').click();
    await heading(page, 'Allowed').waitFor();

    expect((await grant()).scopes).toEqual(['calendar:read']);
  });

  test('counts an approval once, even if its answer was lost', async () => {
    const { developer, link } = await ask();
    const page = await visit();
    const swallow = async (route: { fetch(): Promise<unknown>; abort(): Promise<void> }) => {
      await route.fetch();
      await route.abort();
    };
    await page.route('**/approve', swallow, { times: 1 });

    await openRequest(page, link);
    await decide(page, 'Allow');
    await button(page, 'Try again').click();

    await heading(page, 'This request was approved').waitFor();
    const approvals = (await actionsOf(developer)).filter((action) => action === 'authorization.approved');
    expect(approvals).toHaveLength(1);
  });

  test('can be tried again when it was away from the start', async () => {
    const { link } = await ask();
    const page = await visit();
    await page.route('**/session', (route) => route.abort(), { times: 1 });

    await page.goto(link);
    await heading(page, 'The request cannot be opened just now').waitFor();
    await button(page, 'Try again').click();

    await heading(page, /asks to act/).waitFor();
  });

  test('may be slow, and the page says what it waits for', async () => {
    const { link } = await ask();
    const page = await visit();
    const opening = await holdBack(page, '**/session');
    const deciding = await holdBack(page, '**/approve');

    await page.goto(link);
    await heading(page, 'Opening the request …').waitFor();
    await page.locator('#page[aria-busy="true"]').waitFor();
    opening.letGo();
    await heading(page, /asks to act/).waitFor();
    await decide(page, 'Allow');
    await button(page, 'Allowing …').waitFor();
    const deny = button(page, 'Deny');
    const isDenyOff = await deny.getAttribute('aria-disabled');
    const areScopesOff = await page.getByRole('checkbox').first().isDisabled();
    deciding.letGo();
    await heading(page, 'Allowed').waitFor();

    expect([isDenyOff, areScopesOff]).toEqual(['true', true]);
  });

  test('gets one decision from a double click', async () => {
    const { link, developer } = await ask();
    const page = await visit();
    const approvals = sentTo(page, 'approve');

    await openRequest(page, link);
    await page.clock.fastForward(600);
    await button(page, 'Allow').dblclick();
    await heading(page, 'Allowed').waitFor();

    expect(approvals).toEqual([{}]);
    expect(await actionsOf(developer)).toContain('authorization.approved');
  });

  test('gets no approval from a press before the page could be read', async () => {
    const { link } = await ask();
    const page = await visit();
    const approvals = sentTo(page, 'approve');
    await page.clock.pauseAt(new Date(service().clock().getTime() + 60_000));

    await openRequest(page, link);
    await button(page, 'Allow').click({ force: true });
    await sees(page, 'This page has only just come to the front');
    await decide(page, 'Allow', 'Allowed');

    expect(approvals).toHaveLength(1);
  });

  /** Uses up the requests of this machine's address, from which the browser calls too. */
  const spendAddress = async (id: string) => {
    for (let call = 1; call <= 4 * LIMIT; call += 1) await service().app.inject(`/v1/consent/${id}`);
  };

  test('may refuse too many tries, and the page says how long to wait, and waits', async () => {
    const { link, id } = await ask();
    const page = await visit();

    await openRequest(page, link);
    await spendAddress(id);
    await decide(page, 'Allow');
    await sees(page, /Nothing was decided; your selection is kept. Try again in \d+ (seconds|minute)/);
    const again = button(page, 'Try again');
    const isOffAtFirst = await again.getAttribute('aria-disabled');
    service().advance(60);
    await page.clock.fastForward(60_000);
    await sees(page, 'You can try again now.');
    await again.click();
    await heading(page, 'Allowed').waitFor();

    expect(isOffAtFirst).toBe('true');
  });

  test('may refuse too many openings, with the same effect', async () => {
    const { link, id } = await ask();
    const page = await visit();

    await spendAddress(id);
    await page.goto(link);
    await heading(page, 'Please wait a moment').waitFor();
    service().advance(60);
    await page.clock.fastForward(60_000);
    await button(page, 'Try again').click();

    await heading(page, /asks to act/).waitFor();
  });
});
