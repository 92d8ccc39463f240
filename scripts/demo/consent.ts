import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressBeside } from '../dev/start.ts';
import { openRequest } from './open-request.ts';

/**
 * `npm run consent:try`, beside a running `npm start`: asks a person for consent in the name of the live
 * developer, as an application does for a signed-in person, and opens the page in a browser.
 */
const { DISPLAY, WAYLAND_DISPLAY } = process.env;
const home = join(import.meta.dirname, '../../.behest');
const baseUrl = addressBeside(home);

try {
  const keys = keptKeys(join(home, 'keys.json'));
  const { url, expiresAt } = await openRequest({
    baseUrl,
    apiKey: keys.SEED_API_KEY,
    consentKey: JSON.parse(keys.SEED_CONSENT_KEY),
  });
  process.stdout.write(`
A travel agent asks user_42 for consent. The address is good for five minutes, and vouches for user_42:

  ${url}

The request stays open until ${new Date(expiresAt).toLocaleTimeString()}.
`);
  show(url);
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/** @throws when `npm start` has never run here */
function keptKeys(file: string): { SEED_API_KEY: string; SEED_CONSENT_KEY: string } {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (cause) {
    throw new Error('No keys: run `npm start` first, in another shell.', { cause });
  }
}

/** Opens a browser where there is a screen; elsewhere the person copies the address. */
function show(url: string): void {
  const isMac = process.platform === 'darwin';
  if (!isMac && !DISPLAY && !WAYLAND_DISPLAY) return;
  const opener = spawn(isMac ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true });
  opener.on('error', () => {}); // the address has been printed
  opener.unref();
}
