import type { MemberRole } from '../../src/platform/capabilities.ts';
import { execute } from '../servers/postgres.ts';
import { approverBrowser } from './approving.ts';
import { type Authenticator, authenticator, type Fault } from './authenticator.ts';
import type { Developer, Service } from './start-app.ts';

/** The browser of a member, with its cookies and the token of its session. */
export const consoleBrowser = approverBrowser;
export type ConsoleBrowser = ReturnType<typeof consoleBrowser>;

const ADA = { displayName: 'Ada', email: 'ada@acme.example' };

/** Opens the console with the API key of an account. */
export async function signInByKey(browser: ConsoleBrowser, { apiKey }: Developer, person = ADA) {
  const headers = { authorization: `Bearer ${apiKey}` };
  return browser.call('POST', '/v1/console/session/key', { body: person, headers });
}

/** Registers a passkey for the member of a browser. @returns the device, with the handle under which it knows them */
export async function registerPasskey(browser: ConsoleBrowser, device = authenticator()) {
  const options = await browser.call('POST', '/v1/console/passkeys/options', { body: {} });
  if (options.statusCode !== 200) return { answer: options, device, handle: '' };
  const { challengeId, publicKey } = options.json();
  const body = { challengeId, response: device.create(publicKey) };
  const answer = await browser.call('POST', '/v1/console/passkeys', { body });
  return { answer, device, handle: String(publicKey.user.id) };
}

/** Answers what a page asks of a passkey: `session/passkey` to sign in, `session/step-up` to step up. */
export async function showPasskey(
  browser: ConsoleBrowser,
  { device, handle }: { readonly device: Authenticator; readonly handle: string },
  what: 'session/passkey' | 'session/step-up',
  fault: Fault = {},
) {
  const { challengeId, publicKey } = (
    await browser.call('POST', `/v1/console/${what}/options`, { body: {} })
  ).json();
  const response = device.get(publicKey, { userHandle: handle, ...fault });
  return browser.call('POST', `/v1/console/${what}/verify`, { body: { challengeId, response } });
}

/** A browser whose member has this role, and the passkey that a live account asks for. */
export async function memberOf(service: Service, acme: Developer, role: MemberRole = 'owner') {
  const browser = consoleBrowser(service);
  const answer = await signInByKey(browser, acme);
  if (answer.statusCode !== 200) throw new Error(`console: ${answer.body}`);
  const { member, passkeyRequired } = answer.json();
  const shown = passkeyRequired ? await registerPasskey(browser) : undefined;
  await execute(service.databaseUrl, `update members set role = '${role}' where id = '${member.memberId}'`);
  const { sessionId } = (await browser.call('GET', '/v1/console/session')).json();
  return { ...browser, sessionId: String(sessionId), memberId: String(member.memberId), shown };
}

/** Accepts an invitation in a browser of its own. */
export async function joinBy(service: Service, link: string, device = authenticator()) {
  const browser = consoleBrowser(service);
  const invite = link.split('#invite=')[1] ?? '';
  const options = (await browser.call('POST', '/v1/console/join/options', { body: { invite } })).json();
  const body = {
    ...{ invite, displayName: 'Bob', challengeId: options.challengeId ?? 'wac_none' },
    response: device.create(options.publicKey ?? { challenge: 'AAAA' }),
  };
  const opened = await browser.call('POST', '/v1/console/join/verify', { body });
  return { browser, device, opened, handle: String(options.publicKey?.user?.id ?? '') };
}
