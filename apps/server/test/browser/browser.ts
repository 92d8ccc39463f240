import { existsSync } from 'node:fs';
import { join } from 'node:path';
import {
  type Browser,
  type BrowserContext,
  type BrowserContextOptions,
  chromium,
  type Page,
} from 'playwright-core';
import { memoryFolder } from '../../../../scripts/machine/folders.ts';
import { unpackBrowser } from '../../../../test/browser/unpack.ts';

const INSTALLED = '/usr/bin/chromium';

/**
 * These flags keep the browser from the network, and from a graphics card that the machine lacks. The last ones spare
 * it processes and threads, which a few small pages do not need.
 */
const FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-gpu',
  '--in-process-gpu',
  '--enable-features=NetworkServiceInProcess2',
  '--num-raster-threads=1',
];

/** With this flag of playwright's, which helps containers with little memory, drawings pass through files on a disk. */
const DRAWINGS_ON_DISK = '--disable-dev-shm-usage';

/** Starts the machine's own Chromium, or else the one from an npm package. */
export async function launchBrowser(): Promise<Browser> {
  const common = {
    headless: true,
    chromiumSandbox: process.getuid?.() !== 0, // Chromium refuses it to root
    ignoreDefaultArgs: memoryFolder(1) ? [DRAWINGS_ON_DISK] : [],
  };
  if (existsSync(INSTALLED)) return chromium.launch({ ...common, executablePath: INSTALLED, args: FLAGS });
  const { program, environment } = await unpackBrowser(join(import.meta.dirname, '../../../../.behest'));
  return chromium.launch({
    ...common,
    executablePath: program,
    args: FLAGS,
    env: { ...process.env, ...environment },
  });
}

/** A person's own browser: Chromium keeps its cookies, cache and clock apart from those of all others. */
export interface OwnBrowser {
  readonly context: BrowserContext;
  readonly page: Page;
}

/** All files of a worker share it, as they share modules. It ends with the worker, which holds its pipe. */
let launched: Promise<Browser> | undefined;

/** Emptied browsers for later visits. A new one, with its process, costs as much as a visit. */
const emptied = new Map<string, OwnBrowser[]>();

const CONTEXT_EVENTS = ['console', 'request', 'weberror'] as const;
const PAGE_EVENTS = ['console', 'dialog', 'request', 'response'] as const;

/** @returns a browser with these options, new or emptied */
export async function takeBrowser(options: BrowserContextOptions): Promise<OwnBrowser> {
  return emptied.get(JSON.stringify(options))?.pop() ?? openBrowser(options);
}

export async function openBrowser(options: BrowserContextOptions): Promise<OwnBrowser> {
  launched ??= launchBrowser();
  const context = await (await launched).newContext(options);
  context.setDefaultTimeout(10_000);
  return { context, page: await context.newPage() };
}

/** Leaves nothing of a visit but scripts in the cache: the pages store only cookies, as a test of theirs says. */
export async function giveBack(own: OwnBrowser, options: BrowserContextOptions): Promise<void> {
  const { context, page } = own;
  await page.goto('about:blank');
  for (const other of context.pages()) if (other !== page) await other.close();
  for (const event of CONTEXT_EVENTS) context.removeAllListeners(event);
  for (const event of PAGE_EVENTS) page.removeAllListeners(event);
  await page.unrouteAll();
  await context.clearCookies();
  await context.clock.resume();
  await page.emulateMedia({ colorScheme: null });
  if (options.viewport) await page.setViewportSize(options.viewport);
  const key = JSON.stringify(options);
  emptied.set(key, [...(emptied.get(key) ?? []), own]);
}
