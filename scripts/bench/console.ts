import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import type { BrowserContext, Page } from 'playwright-core';
import { buildConsole } from '../../apps/console/build.ts';
import { launchBrowser } from '../../apps/server/test/browser/browser.ts';
import { type Server, startServer, startStores } from '../../test/harness/servers.ts';
import { makeThrowAway, sweepThrowAways } from '../machine/folders.ts';
import { openClient } from './client.ts';
import { demand, median } from './load.ts';
import { table, whole, writeSection } from './results.ts';
import { openDatabase } from './scene.ts';
import { appendEntries, fill, signUp, type Tenant } from './tenants.ts';

const USAGE = `npm run bench -- console [options]
  --grants <n>   of the account, with as many agents and requests; 10000 unless said
  --entries <n>  of its audit log; 1000000 unless said
  --visits <n>   of each page, each by a browser that has nothing of the console; 5 unless said
  --note <text>  what else the machine was doing, for the results
  --write        writes the outcome into scripts/bench/RESULTS.md
`;
const WHAT = `Each page of the console, visited by a Chromium that has nothing of it yet, whose processor is slowed to a quarter and whose
network has 10 Mbit/s and 40 ms; medians of the visits. Calls are those of the API, the session's among them, and their times those
that the browser sees. An interaction is the longest of opening the palette, typing into it, closing it and, in a list, opening its first row by the keyboard, as
Event Timing tells it. The aims are an LCP of 1.5 s, interactions of 200 ms, eight calls besides the session's, and a p95 of 300 ms. Made by
\`npm run bench -- console --write\`.`;

const SLOWER = 4;
const NETWORK = { offline: false, latency: 40, downloadThroughput: 1_250_000, uploadThroughput: 1_250_000 };
const BATCH = 1000; // entries in one call of the function that chains them
/** Milliseconds without a request after which a page is complete. */
const STILL = 500;

const { values: flags } = parseArgs({
  options: {
    grants: { type: 'string', default: '10000' },
    entries: { type: 'string', default: '1000000' },
    visits: { type: 'string', default: '5' },
    note: { type: 'string', default: '' },
    write: { type: 'boolean', default: false },
    help: { type: 'boolean', default: false },
  },
});
const say = (line: string) => process.stdout.write(`${line}\n`);

/** What one visit took, in milliseconds but for the shift, which has no unit, and the calls. */
interface Visit {
  readonly painted: number;
  readonly shift: number;
  readonly calls: number;
  readonly times: readonly number[];
  readonly interaction: number;
}

async function bench(): Promise<void> {
  await using cleanUp = new AsyncDisposableStack();
  await buildConsole(join(import.meta.dirname, '../..'));
  const stores = cleanUp.adopt(await startStores(), ({ stop }) => stop());
  await sweepThrowAways('bench');
  const folder = makeThrowAway('bench');
  cleanUp.defer(() => rmSync(folder, { recursive: true, force: true }));
  const server = cleanUp.adopt(await startServer(stores, { folder }), ({ stop }) => stop());
  const tenant = await signUp(server.port, 1);
  const db = cleanUp.adopt(await openDatabase(stores), (client) => client.end());
  await fill(db, tenant, Number(flags.grants));
  for (let left = Number(flags.entries) - Number(flags.grants); left > 0; left -= BATCH) {
    await appendEntries(db, tenant, Math.min(BATCH, left));
  }
  await db.query('vacuum analyze');
  const { rows } = await db.query<{ id: string }>(
    'select id from audit_entries where developer_id = $1 order by seq desc limit 1',
    [tenant.developerId],
  );
  const pages = pagesOf(tenant, rows[0]?.id ?? '');
  const browser = cleanUp.adopt(await launchBrowser(), (each) => each.close());
  const first = await browser.newContext();
  const opened = await first.newPage();
  await opened.goto(await linkOf(server, tenant));
  await opened.getByRole('heading', { level: 1, name: 'Overview' }).waitFor();
  const storageState = await first.storageState();

  const results: string[][] = [];
  for (const [name, path] of pages) {
    const visits: Visit[] = [];
    for (let each = 0; each < Number(flags.visits); each += 1) {
      const context = await browser.newContext({ storageState, viewport: { width: 1280, height: 800 } });
      visits.push(await visit(context, `http://localhost:${server.port}/console${path}`));
      await context.close();
    }
    results.push([name, ...figuresOf(visits)]);
    say(results.at(-1)?.join(' | ') ?? '');
  }
  const head = ['Page', 'LCP ms', 'CLS', 'Calls', 'p95 of a call, ms', 'Longest interaction, ms'];
  const sizes = `The account has ${whole(Number(flags.grants))} grants and ${whole(Number(flags.entries))} audit entries.`;
  const text = [WHAT, `${sizes}${flags.note ? ` ${flags.note}` : ''}`, table(head, results)].join('\n\n');
  if (flags.write) writeSection('The console', text);
}

/** The pages without a parameter, and one of each kind with one. */
const pagesOf = ({ grants: [held] }: Tenant, entryId: string): [name: string, path: string][] => [
  ['Overview', ''],
  ['Tour', '/tour'],
  ['Agents', '/agents'],
  ['Agent', `/agents/${held?.agentId}`],
  ['Grants', '/grants'],
  ['Grant', `/grants/${held?.grantId}`],
  ['Requests', '/requests'],
  ['People', '/people'],
  ['Person', '/people/user_42'],
  ['Audit', '/audit'],
  ['Entry', `/audit/${entryId}`],
  ['Denials', '/denials'],
  ['Policies', '/policies'],
  ['Manifests', '/manifests'],
  ['Decisions', '/decisions'],
  ['Anomalies', '/anomalies'],
  ['Webhooks', '/webhooks'],
  ['Live events', '/events'],
  ['Members', '/members'],
  ['Keys', '/keys'],
  ['Usage', '/usage'],
  ['Settings', '/settings'],
];

async function linkOf({ port }: Server, { apiKey }: Tenant): Promise<string> {
  const client = await openClient(port);
  const body = { displayName: 'Ada Lovelace', email: 'ada@acme.example' };
  const asked = { method: 'POST', path: '/v1/console/session/links', body, apiKey };
  const { url } = JSON.parse((await demand(client, asked, 201)).toString());
  client.close();
  return url;
}

/** Observes from the first moment, because some entries are not kept. */
const OBSERVE = `
  globalThis.seen = { painted: 0, shift: 0, longest: 0 };
  const watch = (type, look, more) =>
    new PerformanceObserver((list) => list.getEntries().forEach(look)).observe({ type, buffered: true, ...more });
  watch('largest-contentful-paint', (entry) => { seen.painted = entry.startTime; });
  watch('layout-shift', (entry) => { if (!entry.hadRecentInput) seen.shift += entry.value; });
  watch('event', (entry) => {
    if (entry.interactionId) seen.longest = Math.max(seen.longest, entry.duration);
  }, { durationThreshold: 16 });`;

async function visit(context: BrowserContext, url: string): Promise<Visit> {
  const page = await context.newPage();
  await page.addInitScript(OBSERVE);
  const session = await context.newCDPSession(page);
  await session.send('Emulation.setCPUThrottlingRate', { rate: SLOWER });
  await session.send('Network.enable');
  await session.send('Network.emulateNetworkConditions', NETWORK);
  await page.goto(url);
  await page.locator('h1').waitFor();
  await becomesStill(page);
  const loaded = await page.evaluate<{ painted: number; shift: number; times: number[] }>(
    `({ ...seen, times: performance.getEntriesByType('resource')
      .filter(({ name }) => name.includes('/v1/') && !name.includes('/events/stream'))
      .map(({ requestStart, responseEnd }) => responseEnd - requestStart) })`,
  );
  await page.keyboard.press('Control+k');
  await page.getByRole('dialog').waitFor();
  await page.keyboard.type('agent', { delay: 100 });
  await page.keyboard.press('Escape'); // empties the field
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await becomesStill(page);
  const interaction = await page.evaluate<number>('seen.longest');
  return { ...loaded, calls: loaded.times.length, interaction };
}

/** Waits until no request has begun or ended for a while. Streams stay open, so the network is never idle. */
async function becomesStill(page: Page): Promise<void> {
  let last = performance.now();
  const touch = () => {
    last = performance.now();
  };
  page.on('request', touch).on('requestfinished', touch).on('requestfailed', touch);
  while (performance.now() - last < STILL) await page.waitForTimeout(50);
  page.off('request', touch).off('requestfinished', touch).off('requestfailed', touch);
}

function figuresOf(visits: readonly Visit[]): string[] {
  const middle = (of: (visit: Visit) => number) => median(visits.map(of));
  const times = visits.flatMap((each) => each.times).sort((one, other) => one - other);
  const p95 = times[Math.min(times.length - 1, Math.floor(times.length * 0.95))] ?? 0;
  return [
    whole(middle(({ painted }) => painted)),
    middle(({ shift }) => shift).toFixed(3),
    String(Math.max(...visits.map(({ calls }) => calls))),
    whole(p95),
    whole(middle(({ interaction }) => interaction)),
  ];
}

if (flags.help) say(USAGE);
else await bench();
