import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import type { Developer } from '../app/start-app.ts';
import { button, findings, heading, must, type pagesOfService } from './pages.ts';

/** Gives the browser of a page an authenticator that verifies its person. */
export async function addAuthenticator(page: Page) {
  const session = await page.context().newCDPSession(page);
  await session.send('WebAuthn.enable');
  onTestFinished(() => session.send('WebAuthn.disable').then(() => session.detach())); // the next test may get this browser
  const { authenticatorId } = await session.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      protocol: 'ctap2',
      transport: 'internal',
      hasResidentKey: true,
      hasUserVerification: true,
      isUserVerified: true,
      automaticPresenceSimulation: true,
    },
  });
  /** Whether the person shows a PIN or a fingerprint when they are asked. */
  const setVerified = (isUserVerified: boolean) =>
    session.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  /** The person loses the passkeys of the device. */
  const loseAll = () => session.send('WebAuthn.clearCredentials', { authenticatorId });
  return { setVerified, loseAll };
}

const GUIDE = join(import.meta.dirname, '../../../../docs/guides/let-people-approve-with-passkeys.md');
/** The script of the page that registers a passkey, as the guide shows it. */
const scriptOfGuide = () => /```js\n(.*?)```/s.exec(readFileSync(GUIDE, 'utf8'))?.[1] ?? '';

/** Registers a passkey of a principal, as a developer's own page would. The browser has to be at an origin of the service. */
export async function enrol(page: Page, developer: Developer, principalId = 'user_42') {
  const { challengeId, publicKey } = await must(developer, 'POST', '/v1/webauthn/register/options', {
    principalId,
  });
  const response = await page.evaluate(`(async () => {
    ${scriptOfGuide()}
    return makePasskey(${JSON.stringify(publicKey)});
  })()`);
  return must(developer, 'POST', '/v1/webauthn/register/verify', {
    challengeId,
    response,
    deviceName: 'Laptop',
  });
}

/** For the pages of a service: makes a person who has enrolled in a browser and with an authenticator of their own. */
export const enrolledAs =
  (visit: ReturnType<typeof pagesOfService>['visit']) => async (acme: Developer, name: string) => {
    const body = { email: `${name.toLowerCase()}@example.org`, displayName: name };
    const { link } = (await acme('POST', '/v1/approvers', body)).json();
    const page = await visit({ bypassCSP: true, isNew: true }); // axe is a script from outside the page
    await page.goto(link);
    const device = await addAuthenticator(page);
    await heading(page, /Decide for Acme/).waitFor();
    expect(page.url()).not.toContain('#');
    expect(await findings(page)).toEqual([]);
    await button(page, 'Make a passkey').click();
    await heading(page, 'Calls that wait for you').waitFor();
    return Object.assign(page, { device });
  };
