import { randomUUID } from 'node:crypto';
import type { Developer, Service } from './start-app.ts';

/** The token of the link in the newest mail. */
export const tokenIn = (mails: Service['mails']): string =>
  /\/v1\/signup\/verify\/(\S+)/.exec(mails.sent()[0]?.text ?? '')?.[1] ?? '';

/** Verifies an address of the developer, as its mailbox would. @returns the address */
export async function verifyAddress({ app, mails }: Service, developer: Developer): Promise<string> {
  const email = `${randomUUID()}@acme.test`;
  await developer('POST', '/v1/signup/verify', { email });
  const answer = await app.inject({ method: 'POST', url: `/v1/signup/verify/${tokenIn(mails)}` });
  if (answer.statusCode !== 200) throw new Error(`verifying an address: ${answer.body}`);
  return email;
}
