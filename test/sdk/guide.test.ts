import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { startListening } from '../../apps/server/test/app/listening.ts';
import { firstGrant } from '../../docs/guides/examples/first-grant.ts';

const GUIDES = join(import.meta.dirname, '../../docs/guides');
const linesOf = (code: string) => code.split('\n').map((line) => line.trim());

afterEach(() => void vi.unstubAllEnvs());

test('the lines of the guide bring an agent its first grant', async () => {
  const guide = readFileSync(join(GUIDES, 'quickstart.md'), 'utf8');
  const example = linesOf(readFileSync(join(GUIDES, 'examples/first-grant.ts'), 'utf8')).join('\n');
  const shown = linesOf(/^```ts\n(.*?)\n```/ms.exec(guide)?.[1] ?? '');
  expect(shown.length).toBeGreaterThan(5);
  expect(shown.length).toBeLessThanOrEqual(10);
  expect(example).toContain(shown.join('\n'));

  const service = await startListening({ isShared: true, startsAt: new Date().toISOString() });
  onTestFinished(async () => {
    service.app.server.closeAllConnections();
    await service.stop();
  });
  const { apiKey } = await Behest.signup({ name: 'Acme', mode: 'sandbox' }, { baseUrl: service.url });
  vi.stubEnv('BEHEST_API_KEY', apiKey);
  vi.stubEnv('BEHEST_URL', service.url);
  const decided: Promise<unknown>[] = [];

  const { grant } = await firstGrant((url) => {
    const id = new URL(url).searchParams.get('req') ?? '';
    decided.push(new Behest().authorizations.approve(id));
  });
  await Promise.all(decided);

  expect(grant).toMatchObject({ principalId: 'user_42', scopes: ['calendar:read'], sandbox: true });
});
