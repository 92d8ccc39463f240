import { afterEach, expect, test, vi } from 'vitest';
import { memoryMeter } from './memory-meter.ts';

afterEach(() => void vi.unstubAllEnvs());

test('the memory meter is refused unless the environment is development or test', async () => {
  for (const name of ['production', '', 'Test', undefined]) {
    vi.stubEnv('NODE_ENV', name);
    expect(() => memoryMeter()).toThrow('in one process alone');
  }
  for (const name of ['development', 'test']) {
    vi.stubEnv('NODE_ENV', name);
    expect(await memoryMeter().health()).toMatchObject({ ok: true, backend: 'memory' });
  }
});
