import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { unpackBrowser } from '../../../../tools/browser/unpack.ts';

const INSTALLED = '/usr/bin/chromium';

/** What a browser does by itself is kept from the network, and from a graphics card that is not there. */
const FLAGS = [
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
  '--no-first-run',
  '--disable-gpu',
];

/** The machine's own Chromium where it has one, else the one that an npm package brought. */
export async function launchBrowser(): Promise<Browser> {
  const common = { headless: true, chromiumSandbox: process.getuid?.() !== 0 }; // Chromium refuses root its sandbox
  if (existsSync(INSTALLED)) return chromium.launch({ ...common, executablePath: INSTALLED, args: FLAGS });
  const { program, environment } = await unpackBrowser(join(import.meta.dirname, '../../../../.behest'));
  return chromium.launch({
    ...common,
    executablePath: program,
    args: FLAGS,
    env: { ...process.env, ...environment },
  });
}
