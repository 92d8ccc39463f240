import type { MemberRole } from '../../src/platform/capabilities.ts';
import { execute } from '../servers/postgres.ts';
import { approverBrowser } from './approving.ts';
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

/** A browser whose member has this role, and the passkey that a live account asks for. */
export async function memberOf(service: Service, acme: Developer, role: MemberRole = 'owner') {
  const browser = consoleBrowser(service);
  const answer = await signInByKey(browser, acme);
  if (answer.statusCode !== 200) throw new Error(`console: ${answer.body}`);
  const { sessionId, member } = answer.json();
  await execute(service.databaseUrl, `update members set role = '${role}' where id = '${member.memberId}'`);
  await execute(
    service.databaseUrl,
    `update console_sessions set needs_passkey = false where id = '${sessionId}'`,
  );
  return { ...browser, sessionId: String(sessionId), memberId: String(member.memberId) };
}
