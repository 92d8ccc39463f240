import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import type { KyselyPlugin } from 'kysely';
import { beforeAll, expect, test, vi } from 'vitest';
import { withManyEntries } from '../../../../test/app/many-entries.ts';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

const LARGEST_READ = 262_144;
/** Far more than sockets and streams hold. */
const ENTRIES = 1_500;
const BYTES = 16_000;

/** The bytes of the entries that each statement has read. */
const reads: number[] = [];
const watchReads: KyselyPlugin = {
  transformQuery: ({ node }) => node,
  async transformResult({ result }) {
    const entries = result.rows.filter((row) => 'prevHash' in row);
    if (entries.length > 0) reads.push(Buffer.byteLength(JSON.stringify(entries)));
    return result;
  },
};

let service: Service;
let baseUrl: string;
beforeAll(async () => {
  service = await startApp({ isShared: true, dbAs: (db) => db.withPlugin(watchReads) });
  baseUrl = await service.app.listen({ port: 0, host: '127.0.0.1' });
  return service.stop;
});

async function ask(apiKey: string): Promise<IncomingMessage> {
  const request = get(`${baseUrl}/v1/compliance/export/audit?format=ndjson`, {
    headers: { authorization: `Bearer ${apiKey}` },
    agent: false,
  });
  const [answer] = await once(request, 'response');
  return answer;
}

test('I16: an export is read in portions, as its client takes it, and a client that leaves ends it', async () => {
  const acme = await withManyEntries(service, ENTRIES, BYTES);
  reads.length = 0;

  const waiting = await ask(acme.apiKey); // which takes nothing yet
  await vi.waitFor(() => expect(reads.length).toBeGreaterThan(1));
  const other = await ask(acme.apiKey);
  const third = await ask(acme.apiKey);

  expect(third.statusCode).toBe(429); // two at once, for as long as they are sent
  third.resume();
  expect(reads.reduce((sum, bytes) => sum + bytes, 0)).toBeLessThan((ENTRIES * BYTES) / 2);
  other.destroy();

  let lines = 0;
  for await (const bytes of waiting) lines += Buffer.from(bytes).filter((byte) => byte === 0x0a).length;
  expect(lines).toBe(ENTRIES + 1 + 1); // with the first entry of the chain, and the last line
  expect(Math.max(...reads)).toBeLessThan(LARGEST_READ + 2 * BYTES);
  await vi.waitFor(async () => {
    const again = await ask(acme.apiKey);
    again.destroy();
    expect(again.statusCode).toBe(200);
  });
});
