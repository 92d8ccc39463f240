import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from 'vitest';
import { runDemo } from '../../../../scripts/demo/run-demo.ts';
import { openRequest } from '../../../../scripts/demo.ts';
import { freePort } from '../../../../scripts/machine/ports.ts';
import { startListening } from '../app/listening.ts';
import { personOn } from '../app/person.ts';
import { startApp } from '../app/start-app.ts';

test('the demo of `npm run demo` finds everything as expected', async () => {
  const port = await freePort();
  const baseUrl = `http://127.0.0.1:${port}`;
  const startsAt = new Date().toISOString(); // the demo verifies tokens by the time of day
  const { app, asDeveloper } = await startApp({ env: { PUBLIC_BASE_URL: baseUrl }, startsAt });
  const { apiKey } = await asDeveloper({ mode: 'sandbox' });
  await app.listen({ port, host: '127.0.0.1' });
  const lines: string[] = [];

  const outcome = await runDemo({ baseUrl, apiKey, say: (line) => lines.push(line) });

  expect(outcome.claims).toMatchObject({ iss: baseUrl, sub: 'user_42', scope: 'calendar:read email:send' });
  expect(outcome.online).toMatchObject({ valid: true, principal: 'user_42' });
  expect(outcome.afterRevoking).toEqual({ valid: false, reason: 'revoked' });
  expect(outcome.untouched).toMatchObject({ valid: true });
  expect(outcome.afterAgent).toEqual({ valid: false, reason: 'revoked' });
  expect(outcome.recomputed).toMatchObject({ valid: true, checkedEntries: outcome.asserted.checkedEntries });
  expect(lines.at(-1)).toBe('\nAll as it has to be.');
});

test('the demo says what to do with a live key, and without an answer', async () => {
  const { app, asDeveloper } = await startApp();
  const { apiKey } = await asDeveloper({ mode: 'live' });
  const baseUrl = await app.listen({ port: 0, host: '127.0.0.1' });
  const say = () => {};

  await expect(runDemo({ baseUrl, apiKey, say })).rejects.toThrow('needs a sandbox key');
  await expect(runDemo({ baseUrl: `http://127.0.0.1:${await freePort()}`, apiKey, say })).rejects.toThrow(
    'npm start',
  );
});

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
