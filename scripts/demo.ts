import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openRequest } from './demo/open-request.ts';
import { runDemo } from './demo/run-demo.ts';
import { addressBeside } from './dev/start.ts';

/**
 * Beside a running `npm start`: `npm run demo` shows the life of a grant, each request with its answer, and
 * `npm run demo -- consent` asks a person for consent and opens the page.
 */
const { BEHEST_API_KEY, DISPLAY, WAYLAND_DISPLAY } = process.env;
const home = join(import.meta.dirname, '../.behest');
const baseUrl = addressBeside(home);
const say = (line: string) => {
  process.stdout.write(`${line}\n`);
};

try {
  if (process.argv[2] === 'consent') await showConsent();
  else {
    say(`Behest at ${baseUrl}`);
    await runDemo({ baseUrl, apiKey: BEHEST_API_KEY ?? keptKeys().SEED_SANDBOX_KEY, say });
  }
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
  process.exitCode = 1;
}

/** Asks in the name of the live developer, as an application does for a signed-in person. */
async function showConsent(): Promise<void> {
  const keys = keptKeys();
  const { url, expiresAt } = await openRequest({
    baseUrl,
    apiKey: keys.SEED_API_KEY,
    consentKey: JSON.parse(keys.SEED_CONSENT_KEY),
  });
  say(`
A travel agent asks user_42 for consent. The address is good for five minutes, and vouches for user_42:

  ${url}

The request stays open until ${new Date(expiresAt).toLocaleTimeString()}.`);
  openBrowser(url);
}

/** @throws when `npm start` has never run here */
function keptKeys(): { SEED_SANDBOX_KEY: string; SEED_API_KEY: string; SEED_CONSENT_KEY: string } {
  try {
    return JSON.parse(readFileSync(join(home, 'keys.json'), 'utf8'));
  } catch (cause) {
    throw new Error('No keys: run `npm start` first, in another shell.', { cause });
  }
}

/** Opens a browser where there is a screen; elsewhere the person copies the address. */
function openBrowser(url: string): void {
  const isMac = process.platform === 'darwin';
  if (!isMac && !DISPLAY && !WAYLAND_DISPLAY) return;
  const opener = spawn(isMac ? 'open' : 'xdg-open', [url], { stdio: 'ignore', detached: true });
  opener.on('error', () => {}); // the address has been printed
  opener.unref();
}
