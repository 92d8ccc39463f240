import { expect, test } from 'vitest';
import { partsOf } from '../app/flow.ts';
import { askDevice, newDevice, polled } from '../app/oauth.ts';
import { hintClaims, newVoucher } from '../app/person.ts';
import { newServer } from '../app/published.ts';
import { decide } from './consent-page/pages.ts';
import { button, findings, heading, pagesOfService, sees } from './pages.ts';

const { visit, service } = pagesOfService({ env: { RESOURCES_ALLOW_UNVERIFIED: 'true' } });
const person = { bypassCSP: true } as const; // axe is a script from outside the page

test('a person compares the code, sees who asks, and approves for the device', async () => {
  const device = await newDevice(service());
  await device.acme('PATCH', '/v1/me', { name: 'Acme Television' });
  await device.acme('PATCH', '/v1/me/branding', { accentColor: '#7a1f5c' });
  const shown = await askDevice(device);
  const page = await visit(person);

  await page.goto(String(shown.verification_uri_complete));
  await heading(page, 'Connect a device').waitFor();
  await sees(page, 'Continue only if your own device shows');
  await sees(page, 'Nobody should send you a code');
  await page.locator('.masthead').getByText('Acme Television').waitFor();
  expect(await page.evaluate("document.documentElement.style.getPropertyValue('--fill')")).toBe('#7a1f5c');
  expect(await page.getByLabel('Code', { exact: true }).inputValue()).toBe(shown.user_code);
  expect(await findings(page)).toEqual([]);
  await button(page, 'Continue').click();

  await heading(page, /asks to act for you/).waitFor();
  await sees(page, 'Compare the code');
  expect(await page.locator('main').innerText()).toContain(shown.user_code);
  expect(await findings(page)).toEqual([]);
  await decide(page, 'Allow', 'Allowed');
});

test('a code that nobody waits with is told, and a text that is no code is not sent', async () => {
  const page = await visit(person);
  const sent: string[] = [];
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()));
  await page.goto(`${service().url}/device`);

  await page.getByLabel('Code', { exact: true }).fill('bcdf');
  await button(page, 'Continue').click();
  await sees(page, 'A code has eight letters');
  expect(sent).toEqual([]);
  await page.getByLabel('Code', { exact: true }).fill('bcdf ghjk');
  await page.keyboard.press('Enter');
  await sees(page, 'No device waits with this code.');
  expect(await findings(page)).toEqual([]);
});

test('a person whom the application signs in comes back to the code, and approves for the device', async () => {
  const acme = await service().asDeveloper();
  const voucher = await newVoucher();
  await acme('PATCH', '/v1/me', { consentKeys: [voucher.jwk] });
  const { resource } = await newServer(acme, { loginUrl: 'https://app.test/login' });
  const device = await newDevice(service(), acme);
  const shown = await askDevice(device, { resource });
  const page = await visit();
  await page.route('https://app.test/login?**', async (route) => {
    const { searchParams } = new URL(route.request().url());
    const asked = { id: searchParams.get('areq') ?? '', principalId: 'user_42' };
    const hint = await voucher.hint(hintClaims(service(), acme.developerId, asked));
    const location = `${searchParams.get('return')}#hint=${hint}`;
    await route.fulfill({ contentType: 'text/html', body: `<a href="${location}">Signed in</a>` });
  });

  await page.goto(String(shown.verification_uri_complete));
  await button(page, 'Continue').click();
  await page.getByRole('link', { name: 'Signed in' }).click();
  await heading(page, 'Connect a device').waitFor();
  expect(page.url()).not.toContain('hint');
  await button(page, 'Continue').click();
  await heading(page, /asks to act for you/).waitFor();
  await sees(page, 'vouches that this is you.');
  await sees(page, 'Compare the code');
  await decide(page, 'Allow', 'Allowed');

  service().advance(5);
  const tokens = Object(await (await polled(service(), device, shown.device_code)).json());
  expect(partsOf(tokens.access_token).payload.sub).toBe('user_42');
});
