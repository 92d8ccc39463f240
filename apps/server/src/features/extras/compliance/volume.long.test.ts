import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { beforeAll, expect, test } from 'vitest';
import { withManyEntries } from '../../../../test/app/many-entries.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const MAX_GROWTH = 48 * 1_048_576; // a few portions, as rows and as text

let service: Service;
let baseUrl: string;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  baseUrl = await service.app.listen({ port: 0, host: '127.0.0.1' });
  return service.stop;
});

setFlagsFromString('--expose-gc');
const collect: () => void = runInNewContext('gc');

/** The bytes in use, after a collection of garbage. */
const inUse = () => {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

test.each([
  [200_000, 64],
  [2_000, 16_000],
])(
  'an export of %i entries of %i bytes takes constant memory',
  async (count, bytes) => {
    const { apiKey } = await withManyEntries(service, count, bytes);
    const headers = { authorization: `Bearer ${apiKey}` };
    const before = inUse();
    let most = before;
    let lines = 0;
    let seen = 0;

    const [answer]: IncomingMessage[] = await once(
      get(`${baseUrl}/v1/compliance/export/audit?format=ndjson`, { headers, agent: false }),
      'response',
    );
    for await (const part of answer ?? []) {
      lines += Buffer.from(part).filter((byte) => byte === 0x0a).length;
      const tenth = Math.floor((10 * lines) / count);
      if (tenth > seen) most = Math.max(most, inUse());
      seen = tenth;
    }

    expect(lines).toBe(count + 2);
    expect(most - before).toBeLessThan(MAX_GROWTH);
  },
  300_000,
);
