import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { consentLink, type Voucher } from '../docs/guides/examples/consent-link.ts';
import { runDemo } from './demo/run-demo.ts';
import { addressBeside } from './dev/start.ts';

interface LiveDeveloper {
  readonly baseUrl: string;
  readonly apiKey: string;
  /** The private half of one of the developer's `consentKeys`. */
  readonly consentKey: Voucher['privateKey'];
}

/** A request that makes the page show everything that it can show. */
const asked = {
  principalId: 'user_42',
  scopes: ['calendar:read', 'calendar:write', 'email:send', 'tool:stripe:write:refunds:capped:50'],
  purpose: 'payments.payout',
  authorizationDetails: [
    {
      type: 'urn:service:tools:v1',
      connector: 'stripe',
      tools: ['refund', 'lookup_*'],
      caps: { refund: { per_day: 5 } },
    },
  ],
  expiresIn: '7d',
};

/** @returns the address to open in the person's browser, hint included. */
export async function openRequest({ baseUrl, apiKey, consentKey }: LiveDeveloper) {
  const call = async (method: string, path: string, body?: object) => {
    const answer = await fetch(`${baseUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      ...(body && { body: JSON.stringify(body) }),
    });
    const said = Object(await answer.json());
    if (!answer.ok) throw new Error(`${method} ${path} answered ${answer.status}: ${said.message}`);
    return said;
  };

  const { developerId } = await call('GET', '/v1/me');
  const name = 'Travel agent';
  const description = 'Plans trips, keeps your calendar in order and sorts out refunds.';
  const { agentId } = await call('POST', '/v1/agents', { name, description });
  const request = await call('POST', '/v1/authorize', { agentId, ...asked });
  const voucher = { developerId: String(developerId), issuer: baseUrl, privateKey: consentKey };
  const url = await consentLink(
    {
      consentUrl: String(request.consentUrl),
      authRequestId: String(request.authRequestId),
      principalId: asked.principalId,
    },
    voucher,
  );
  return { url, authRequestId: String(request.authRequestId), expiresAt: String(request.expiresAt) };
}

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
