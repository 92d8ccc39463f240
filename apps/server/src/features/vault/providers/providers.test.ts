import { expect, test } from 'vitest';
import { possessionsOf } from '../../../../test/app/every-route.ts';
import { entriesOf, sharedSandbox } from '../../../../test/app/flow.ts';
import { systemCaller } from '../../../platform/caller.ts';
import { markFailed } from './change.ts';

const sandbox = sharedSandbox();

test('a provider that fails again for the same reason is recorded once', async () => {
  const { acme, service } = await sandbox();
  const { providerId } = await possessionsOf(acme);
  const failed = { id: String(providerId), service: 'files' };
  const caller = systemCaller(acme, { mode: 'sandbox', plan: 'free' }, 'test');

  for (const error of ['timeout', 'timeout', 'invalid_client']) {
    await markFailed(service, caller, failed, error);
  }

  const entries = await entriesOf(acme, 'vault.provider.failed');
  expect(entries.map(({ metadata }) => metadata.error).sort()).toEqual(['invalid_client', 'timeout']);
  expect((await acme('GET', `/v1/vault/providers/${providerId}`)).json()).toMatchObject({
    status: 'error',
    lastError: 'invalid_client',
  });
});
