import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { openRequest } from '../../../../scripts/demo/open-request.ts';
import { startListening } from '../app/listening.ts';
import { personOn } from '../app/person.ts';

test('`npm run demo -- consent` opens a live page for a person who is verified', async () => {
  const service = await startListening({ startsAt: new Date().toISOString() }); // hints hold the time of day
  const developer = await service.asDeveloper();
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await developer('PATCH', '/v1/me', { consentKeys: [publicKey.export({ format: 'jwk' })] });

  const consentKey = privateKey.export({ format: 'jwk' });
  const { url } = await openRequest({ baseUrl: service.url, apiKey: developer.apiKey, consentKey });
  const hint = new URLSearchParams(new URL(url).hash.slice(1)).get('hint') ?? '';
  const opened = await personOn(service).open(url, hint);
  const unvouched = await personOn(service).open(url);

  expect(opened.json()).toMatchObject({
    verification: { mode: 'developer', satisfied: true },
    request: { principalId: 'user_42', purpose: 'payments.payout' },
  });
  expect(unvouched.json().verification.satisfied).toBe(false);
});
