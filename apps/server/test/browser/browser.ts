import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
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
