import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';
import { corpus, did } from '../../../../packages/protocol/test/receipts.ts';
import { makeThrowAway, sweepThrowAways } from '../../../../scripts/machine/folders.ts';
import { startListening } from '../app/listening.ts';
import { populated } from './console.ts';
import { must } from './pages.ts';

// npm brings no Firefox, so that of the machine is taken.
const program = [process.env.BEHEST_FIREFOX, 'firefox-esr', 'firefox'].find(
  (each) => each && spawnSync(each, ['--version'], { timeout: 60_000 }).status === 0,
);

if (program === undefined) {
  process.stdout.write('The console is not tested in Firefox: there is none. .ci/firefox installs one.\n');
}

/** A text of the page, waited for: an expression that is empty or undefined until then. */
const until = (expression: string) => `new Promise((resolve, reject) => {
  const began = performance.now();
  const look = () => {
    const found = ${expression};
    if (found) resolve(String(found));
    else if (performance.now() - began > 30_000) reject(new Error(document.body.innerText.slice(0, 500)));
    else setTimeout(look, 50);
  };
  look();
})`;

/** Presses the first button with that label. @returns the label when it was there */
const press = (label: string) => `(() => {
  const buttons = [...document.querySelectorAll('button:not(:disabled)')];
  const button = buttons.find((each) => each.textContent.trim() === '${label}');
  button?.click();
  return button && '${label}';
})()`;

/** What Vite says of a page that is left while it loads. */
const LEFT = /^Error: Unable to preload CSS/;

const FAULTS = `JSON.stringify({
  sideways: document.documentElement.scrollWidth > innerWidth,
  alerts: [...document.querySelectorAll('[role=alert]')].map((each) => each.textContent),
})`;

test.runIf(program)(
  'each page of the console opens in Firefox, and an agent is stopped there',
  async () => {
    const service = await startListening();
    const acme = await service.asDeveloper({ mode: 'sandbox' });
    await populated(acme);
    const who = { displayName: 'Ada Lovelace', email: 'ada@acme.example' };
    const { url } = await must(acme, 'POST', '/v1/console/session/links', who);
    const page = await openFirefox(program ?? '');
    await page.goto(url);
    await page.evaluate(until(`document.querySelector('nav a')`));

    const links = `JSON.stringify([...document.querySelectorAll('nav a')].map((link) => link.pathname))`;
    const paths: string[] = JSON.parse(await page.evaluate(links));
    const faults: Record<string, unknown> = {};
    for (const path of paths) {
      await page.goto(`${service.url}${path}`);
      await page.evaluate(
        until(`document.querySelector('main h1') && !document.querySelector('main .loading')`),
      );
      faults[path] = JSON.parse(await page.evaluate(FAULTS));
    }
    expect(paths.length).toBeGreaterThan(20);
    expect(faults).toEqual(Object.fromEntries(paths.map((path) => [path, { sideways: false, alerts: [] }])));

    await page.goto(`${service.url}/console/agents`);
    await page.evaluate(until(press('Stop')));
    await page.evaluate(until(press('Stop the agent')));
    await page.evaluate(until(`document.querySelector('.stopped')`));
    const { agents } = await must(acme, 'GET', '/v1/agents');
    expect(agents.map(({ status }: { status: string }) => status).toSorted()).toEqual([
      'active',
      'active',
      'suspended',
    ]);
    expect(page.complaints).toEqual([]);
  },
  240_000,
);

test.runIf(program)(
  'a receipt from a disk is checked in Firefox, which loads nothing else',
  async () => {
    const folder = makeThrowAway('receipts');
    const html = readFileSync(join(import.meta.dirname, '../../console/verify.html'), 'utf8');
    const place = '<script type="application/json" id="receipt">';
    const page = await openFirefox(program ?? '');
    for (const [name, { receipt, failed }] of Object.entries(corpus())) {
      const file = join(folder, 'receipt.html');
      writeFileSync(
        file,
        html.replace(place, () => `${place}${JSON.stringify(receipt).replaceAll('<', '\\u003c')}`),
      );
      await page.goto(`${pathToFileURL(file)}?${encodeURIComponent(name)}`);

      const state = await page.evaluate(until(`document.querySelector('h1.verdict')?.className`));
      expect([name, state]).toEqual([name, `verdict ${failed === null ? 'unanchored' : 'failed'}`]);
      expect(await page.evaluate(`String(performance.getEntriesByType('resource').length)`)).toBe('0');
      if (failed !== null) continue;
      const paste = `(document.querySelector('#keys').value = ${JSON.stringify(JSON.stringify(did))}) && ''`;
      await page.evaluate(paste);
      await page.evaluate(until(press('Check with these keys')));
      await page.evaluate(until(`document.querySelector('h1.verified')`));
    }
    expect(page.complaints).toEqual([]);
  },
  240_000,
);

/** One page of a Firefox, which is driven by WebDriver BiDi (W3C), the protocol that Firefox itself speaks. */
async function openFirefox(program: string) {
  await sweepThrowAways('firefox');
  const profile = makeThrowAway('firefox');
  const flags = ['--headless', '--remote-debugging-port=0', '--profile', profile, '--no-remote'];
  const child = spawn(program, flags, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, HOME: profile },
  });
  onTestFinished(async () => {
    child.kill();
    if (child.exitCode === null) await once(child, 'exit');
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  });
  const socket = new WebSocket(`${await addressOf(child.stderr)}/session`);
  await once(socket, 'open');

  const waiting = new Map<number, (answer: { result?: unknown; error?: string; message?: string }) => void>();
  const complaints: string[] = [];
  socket.addEventListener('message', ({ data }) => {
    const { id, method, params, ...answer } = JSON.parse(String(data));
    if (method === 'log.entryAdded' && ['error', 'warn'].includes(params.level) && !LEFT.test(params.text))
      complaints.push(params.text);
    waiting.get(id)?.(answer);
    waiting.delete(id);
  });
  let last = 0;
  const ask = (method: string, params: object) =>
    new Promise<unknown>((resolve, reject) => {
      last += 1;
      waiting.set(last, ({ result, error, message }) =>
        error === undefined ? resolve(result) : reject(new Error(`${method}: ${message}`)),
      );
      socket.send(JSON.stringify({ id: last, method, params }));
    });

  await ask('session.new', { capabilities: {} });
  await ask('session.subscribe', { events: ['log.entryAdded'] });
  const { contexts } = Object(await ask('browsingContext.getTree', {}));
  const { context } = contexts[0];
  await ask('browsingContext.setViewport', { context, viewport: { width: 1280, height: 800 } });
  return {
    /** What the browser and the pages' scripts have said of level error and warning. */
    complaints,
    goto: (url: string) => ask('browsingContext.navigate', { context, url, wait: 'complete' }),
    /** @param expression may be a promise, of a text */
    async evaluate(expression: string): Promise<string> {
      const asked = { expression, target: { context }, awaitPromise: true };
      const { type, result, exceptionDetails } = Object(await ask('script.evaluate', asked));
      if (type !== 'success') throw new Error(`${expression}: ${exceptionDetails?.text}`);
      return result.value;
    },
  };
}

async function addressOf(said: NodeJS.ReadableStream): Promise<string> {
  const lines: string[] = [];
  for await (const line of createInterface(said)) {
    lines.push(line);
    const address = /^WebDriver BiDi listening on (ws:\/\/\S+)/.exec(line)?.[1];
    if (address) {
      said.resume(); // a pipe that nobody reads would stop the browser
      return address;
    }
  }
  throw new Error(`Firefox did not start: ${lines.join('\n')}`);
}
