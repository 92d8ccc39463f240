import type { Page } from 'playwright-core';
import { afterAll, describe, expect, test } from 'vitest';
import { startAccountsServer } from '../app/accounts-server.ts';
import { payer, release } from '../app/approving.ts';
import { addProvider, askToConnect, besideUpstream } from '../app/connecting.ts';
import { openSession } from '../app/flow.ts';
import { askDevice, newClient, newDevice, pkceLink } from '../app/oauth.ts';
import { besideProvider } from '../app/signing-on.ts';
import { openBrowser } from './browser.ts';
import { consentPages } from './consent-page/pages.ts';
import { findings, heading, must, picture, scrollsSideways } from './pages.ts';
import { enrolledAs } from './passkeys.ts';
import { grant } from './permissions-page/permissions.ts';

const beside = besideProvider(besideUpstream().env);
const { ask, visit, service } = consentPages(beside);
const person = { bypassCSP: true, isNew: true } as const; // axe is a script from outside the page
const enrolled = enrolledAs(visit);

const SIZES = [
  { width: 390, height: 844 },
  { width: 1280, height: 800 },
] as const;

/** What each page may weigh, compressed, and its scripts, in bytes. */
const MOST = { page: 60_000, script: 20_000 };
/** WCAG 2.2, success criterion 2.5.8, in CSS pixels. */
const LEAST_TARGET = 24;

interface Look {
  /** Where the page tells what is permitted, and the buttons of a decision. */
  readonly permission?: string;
  readonly decision?: string;
  /** It stands in the picture of the documentation that shows several pages. */
  readonly isPictured?: true;
  /** Both buttons stand on the first screen. */
  readonly isDecidedAtOnce?: true;
  /** A kept component, whose size is not ours, and whose script follows the scheme. */
  readonly isKept?: true;
}

const table: string[][] = [
  [
    ...['page', 'size', 'scheme', 'height', 'y of permission', 'y of buttons', 'words', 'axe', 'contrast'],
    ...['target', 'LCP ms', 'kB', 'kB of script'],
  ],
];
/** First screens of a phone. */
const pictured: string[] = [];

afterAll(async () => {
  if (pictured.length === 8) {
    const images = pictured.map((each) => `<img src="data:image/png;base64,${each}" width="292">`);
    const { page, context } = await openBrowser({ viewport: { width: 1232, height: 1304 } });
    await page.setContent(
      `<body style="display: flex; flex-wrap: wrap; gap: 16px; margin: 8px">${images.join('')}`,
    );
    await picture(page, 'other-pages-phone');
    await context.close();
  }
  if (process.env.PRINT_PAGES !== '1') return;
  process.stdout.write(`${table.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`);
});

/** A new browser at a page, with the paths of what it asks for. */
async function at(url: string, title: string | RegExp) {
  const page = await visit({ ...person, viewport: SIZES[0] });
  const files = watchFiles(page);
  await page.goto(url);
  await heading(page, title).waitFor();
  return { page, files };
}

/** The documents, scripts and styles that a page asks for, by their paths. */
function watchFiles(page: Page): Map<string, boolean> {
  const files = new Map<string, boolean>();
  page.on('request', (request) => {
    const { pathname } = new URL(request.url());
    const type = request.resourceType();
    const isFile = ['document', 'script', 'stylesheet', 'image'].includes(type);
    if (isFile || pathname === '/openapi.json') files.set(pathname, type === 'script');
  });
  return files;
}

/** Bytes as they are sent to a browser. */
async function weigh(files: ReadonlyMap<string, boolean>) {
  const sum = { page: 0, script: 0 };
  for (const [url, isScript] of files) {
    const headers = { accept: 'text/html', 'accept-encoding': 'gzip, deflate, br' };
    const { rawPayload } = await service().app.inject({ url, headers });
    sum.page += rawPayload.length;
    if (isScript) sum.script += rawPayload.length;
  }
  return sum;
}

const LOOK = `(({ permission, decision }) => {
  const box = (element) => element.getBoundingClientRect();
  const seen = (element) => element.checkVisibility({ visibilityProperty: true, contentVisibilityAuto: true });
  const isInSentence = (element) => element.matches('a') && getComputedStyle(element).display === 'inline';
  const targets = [...document.querySelectorAll('a[href], button, input, select, textarea, summary')]
    .filter((element) => seen(element) && !isInSentence(element) && !element.closest('.unseen'))
    .map((element) => box(element.matches('[type=checkbox], [type=radio]') ? element.labels[0] : element))
    .map(({ width, height }) => Math.min(width, height));
  return {
    height: document.documentElement.scrollHeight,
    permission: permission ? Math.round(box(document.querySelector(permission)).top) : undefined,
    buttons: decision ? [...document.querySelectorAll(decision)].map((each) => Math.round(box(each).bottom)) : [],
    words: document.body.innerText.match(/[\\p{L}\\p{N}]\\S*/gu).length,
    target: targets.length > 0 ? Math.round(Math.min(...targets)) : undefined,
  };
})`;

/** The end of what fades from one colour to another. */
const FADED = `Promise.allSettled(document.getAnimations()
  .filter((each) => each instanceof CSSTransition).map(({ finished }) => finished))`;

/** Waits until Swagger UI is drawn in a scheme. */
const docsIn = (page: Page) => async (scheme: 'light' | 'dark') => {
  await page.locator(`html${scheme === 'dark' ? '.dark-mode' : ':not(.dark-mode)'}`).waitFor();
  await page.evaluate(`${FADED}.then(() => undefined)`);
};

const CONTRAST = `axe.run({ runOnly: ['color-contrast'], resultTypes: ['passes', 'violations'] }).then((found) =>
  Math.min(...[...found.passes, ...found.violations]
    .flatMap(({ nodes }) => nodes)
    .flatMap(({ any }) => any)
    .map(({ data }) => data?.contrastRatio || 21)))`;

const PAINT = `new Promise((resolve) => new PerformanceObserver((list) => resolve(list.getEntries().at(-1).startTime))
  .observe({ type: 'largest-contentful-paint', buffered: true }))`;

interface Seen {
  readonly height: number;
  readonly permission?: number;
  readonly buttons: readonly number[];
  readonly words: number;
  /** Undefined where all links are in sentences. */
  readonly target?: number;
}

/** Looks at a page in each size and scheme, adds its rows to the table, and compares it with the aims. */
async function look(name: string, { page, files }: Awaited<ReturnType<typeof at>>, aims: Look = {}) {
  const paint = Math.round(await page.evaluate<number>(PAINT));
  const weight = await weigh(files);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    await page.evaluate('scrollTo(0, 0)');
    if (aims.isPictured && size === SIZES[0]) pictured.push((await page.screenshot()).toString('base64'));
    const hasScheme = aims.isKept ? docsIn(page) : async () => {};
    const faults = await findings(page, hasScheme); // brings axe
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      await hasScheme(colorScheme);
      const seen = await page.evaluate<Seen>(`${LOOK}(${JSON.stringify(aims)})`);
      const contrast = await page.evaluate<number>(CONTRAST);
      table.push(
        [
          ...[name, `${size.width} × ${size.height}`, colorScheme, seen.height, seen.permission ?? '–'],
          ...[
            seen.buttons.join(' and ') || '–',
            seen.words,
            faults.length,
            contrast,
            seen.target ?? '–',
            paint,
          ],
          ...[weight.page, weight.script].map((bytes) => (bytes / 1000).toFixed(1)),
        ].map(String),
      );
      expect(seen.target ?? LEAST_TARGET, 'the smallest target').toBeGreaterThanOrEqual(LEAST_TARGET);
      if (aims.isDecidedAtOnce) {
        expect(seen.buttons).toHaveLength(2);
        for (const bottom of seen.buttons) expect(bottom).toBeLessThanOrEqual(size.height);
      }
    }
    expect(faults).toEqual([]);
    expect(await scrollsSideways(page)).toBe(false);
  }
  if (aims.isKept) return;
  expect(weight.page).toBeLessThanOrEqual(MOST.page);
  expect(weight.script).toBeLessThanOrEqual(MOST.script);
}

describe('in a phone and on a laptop, light and dark', () => {
  const acting = ['email:send', 'posts:publish', 'rooms:book', 'logs:delete'];
  const looking = ['files', 'photos', 'notes', 'tasks', 'contacts', 'orders', 'invoices', 'places'];
  const scopes = [...acting, ...looking.map((what) => `${what}:read`)];

  test.each([1, 4, 12])('a request for consent with %i permissions meets the aims', async (count) => {
    const { vouchedLink } = await ask({
      agent: { name: 'Invoice assistant' },
      hasKey: true,
      settings: { name: 'Acme Books' },
      request: { principalId: 'ada@example.org', scopes: scopes.slice(0, count), expiresIn: '7d' },
    });
    const opened = await at(await vouchedLink(), /asks to act for you/);
    await opened.page.clock.fastForward(600);
    await opened.page.locator('#approve[aria-disabled="false"]').waitFor();

    await look(`consent, ${count}`, opened, {
      permission: '.rows > li',
      decision: '.decide button',
      ...(count <= 4 && { isDecidedAtOnce: true }),
    });
  });

  test('a call to approve meets the aims', async () => {
    const acme = await service().asDeveloper({ mode: 'sandbox' });
    const agent = await payer(acme);
    const page = await enrolled(acme, 'Ada');
    const wire = { permission: 'write', requires_decision: true, title: 'Pay by wire' };
    const manifest = { $schema: 'x', connector: 'acme_bank', tools: { wire } };
    await must(acme, 'PUT', '/v1/manifests/acme_bank', manifest);
    const asked = (
      await agent.ask({ ...release, arguments: { ...release.arguments, currency: 'EUR' } })
    ).json();
    const files = watchFiles(page);
    await page.goto('about:blank');
    await page.goto(asked.url);
    await heading(page, /asks to use/).waitFor();

    await look('approve', { page, files }, { permission: '#call > div', decision: '.decide button' });
  });

  test('the permissions of a person meet the aims', async () => {
    const developer = await service().asDeveloper({ mode: 'sandbox' });
    await grant(developer, 'Invoice assistant', { scopes: ['invoices:read', 'email:send'] });
    await grant(developer, 'Travel booker');
    const { dashboardUrl } = (await openSession(developer)).json();

    const opened = await at(dashboardUrl, 'Your permissions');
    await opened.page.locator('.grant > ul > li').first().waitFor();

    await look('permissions', opened, { permission: '.grant > ul > li' });
  });

  test('the page to sign in meets the aims', async () => {
    const developer = await service().asDeveloper();
    await must(developer, 'PATCH', '/v1/me', { consentMode: 'passkey' });
    const { clientId } = await newClient(developer);
    const { link } = await pkceLink(clientId, { state: 's1' });

    await look('sign-in', await at(link.replace('https://auth.test', service().url), 'Show who you are'), {
      isPictured: true,
    });
  });

  test('the page for a device meets the aims', async () => {
    const shown = await askDevice(await newDevice(service()));

    await look('device', await at(String(shown.verification_uri_complete), 'Connect a device'), {
      isPictured: true,
    });
  });

  test('the page to connect an account meets the aims', async () => {
    const developer = await service().asDeveloper({ mode: 'sandbox' });
    await developer('PATCH', '/v1/me', { name: 'Acme Books' });
    await addProvider(developer, await startAccountsServer(), { name: 'Ledger' });
    const { agentId } = (await developer('POST', '/v1/agents', { name: 'Invoice assistant' })).json();
    const session = await askToConnect(developer, { agentId, scopes: ['files:write'] });

    await look('connect', await at(session.connectUrl, 'Connect Ledger for Acme Books?'), {
      ...{ permission: '.rows > li', decision: '.decide button', isDecidedAtOnce: true },
      isPictured: true,
    });
  });

  test('the page of a customer’s administrator meets the aims', async () => {
    const developer = await service().asDeveloper();
    const body = { name: 'Initech', purposes: ['sso', 'scim'], acknowledge: 'all people of the account' };
    const { url } = await must(developer, 'POST', '/v1/sso/setup-links', body);

    await look('setup', await at(url, 'Set up sign-in for Initech'), { isPictured: true });
  });

  test('the first page, a refusal and the mails of development meet the aims', async () => {
    const pictured = { isPictured: true } as const;
    await look('/', await at(service().url, 'You decide what AI agents may do'), pictured);
    await look('error', await at(`${service().url}/nowhere`, 'There is no such page'), pictured);
    await look(
      'mail',
      await at(`${service().url}/development/mail`, 'Mail of this development service'),
      pictured,
    );
  });

  test('the reference opens as a list of what a visitor wants, and finds calls', async () => {
    const opened = await at(`${service().url}/docs`, /^Behest/);
    const { page } = opened;
    await page.locator('.group').first().waitFor();
    const groups = await page.locator('.group').allInnerTexts();
    const height = await page.evaluate<number>('document.documentElement.scrollHeight');

    await look('/docs', opened, { isKept: true, isPictured: true });

    expect(groups[0]).toBe('Ask for consent');
    expect(groups.at(-1)).toBe('Run the service');
    expect(height).toBeLessThan(1_200);
    expect(await page.locator('.opblock-tag').count()).toBe(0);
    await page.getByRole('button', { name: 'Ask for consent' }).click();
    await page.locator('.opblock-tag', { hasText: 'grants' }).first().waitFor();
    await page.getByRole('searchbox').fill('revoke passport');
    await page.getByText('/v1/passport/{id}/revoke').waitFor();
    expect(await page.locator('.opblock').count()).toBeLessThan(5);
    await page.locator('.opblock-summary-control').first().click();
    await page.locator('.opblock-body .responses-wrapper').waitFor();
    expect(await findings(page, docsIn(page))).toEqual([]);
    await page.getByRole('searchbox').fill('no call has these words');
    await page.getByText('No operations defined in spec!').waitFor();
    await page.getByRole('searchbox').fill('');
    await page.locator('.group').nth(7).waitFor();
    await page.goto(`${service().url}/docs#/budgets`);
    await page.reload();
    await page.locator('.opblock', { hasText: '/v1/budget/allocate' }).waitFor(); // its group is open
  });
});
