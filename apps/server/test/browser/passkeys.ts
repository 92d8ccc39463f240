import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { onTestFinished } from 'vitest';
import type { Developer } from '../app/start-app.ts';
import { must } from './pages.ts';

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
