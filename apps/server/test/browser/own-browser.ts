import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core';
import { launchBrowser } from './browser.ts';

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
