import { expect, test } from 'vitest';
import { askDevice, newDevice, polled } from '../app/device.ts';
import { partsOf } from '../app/flow.ts';
import { hintClaims, newVoucher } from '../app/person.ts';
import { newServer } from '../app/published.ts';
import { decide } from './consent-page/pages.ts';
import { button, heading, pagesOfService, sees } from './pages.ts';

const { visit, service } = pagesOfService({ env: { RESOURCES_ALLOW_UNVERIFIED: 'true' } });

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
