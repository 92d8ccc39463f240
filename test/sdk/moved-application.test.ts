import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { expect, onTestFinished, test } from 'vitest';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { movedApplication, receive } from './moved-application.ts';

test('an application in the names of older clients runs after its import, class and variable were changed', async () => {
  const service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
  onTestFinished(async () => {
    service.app.server.closeAllConnections();
    await service.stop();
  });
  const { apiKey, developerId } = await Behest.signup(
    { name: 'Acme', mode: 'sandbox' },
    { baseUrl: service.url },
  );

  const seen = await movedApplication(apiKey, service.url);

  expect(seen.fetched).toEqual(seen.agent);
  expect(seen.updated.description).toBe('Reads and pays invoices');
  expect(seen.verified).toMatchObject({ valid: true, grantId: seen.grant.grantId });
  expect(seen.grant).toMatchObject({ principalId: 'user_abc123', developerId, agentDid: seen.agent.did });
  expect(seen.grants.map(({ grantId }) => grantId)).toEqual([seen.grant.grantId]);
  expect(seen.entries.map(({ action }) => action)).toContain('invoice.paid');
  expect(seen.same).toMatchObject({ hash: seen.entry.hash, metadata: { amount: 420 } });
  expect(seen.balance).toMatchObject({ remainingBudget: '75.0000' });
  expect(seen.transactions).toHaveLength(1);
  expect(seen.settings).toMatchObject({ developerId, name: 'Acme' });
  expect(seen.exported.grants.length).toBeGreaterThan(0);
});

test('the guide shows lines of that application', () => {
  const textOf = (path: string) => readFileSync(join(import.meta.dirname, path), 'utf8');
  const linesOf = (code: string) => code.split('\n').map((line) => line.trim());
  const application = linesOf(textOf('moved-application.ts')).join('\n');
  const blocks = [...textOf('../../docs/guides/moving.md').matchAll(/^```ts\n(.*?)\n```/gms)];

  expect(blocks.length).toBe(3);
  for (const [, code = ''] of blocks) expect(application).toContain(linesOf(code).join('\n'));
});

test('its receiver of webhooks takes what the service signs', () => {
  const secret = `whsec_${btoa('x'.repeat(32))}`;
  const payload = '{"id":"evt_1","type":"grant.revoked","data":{}}';
  const timestamp = String(Math.floor(Date.now() / 1_000));
  const signed = (text: string) => `sha256=${createHmac('sha256', secret).update(text).digest('hex')}`;
  const headers = {
    'x-service-signature': signed(payload),
    'x-service-timestamp': timestamp,
    'x-service-signature-v2': signed(`${timestamp}.${payload}`),
  };

  expect(receive(payload, headers, secret)).toBe('grant.revoked');
  expect(receive(`${payload} `, headers, secret)).toBeUndefined();
});
