import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Behest } from '@behest/sdk';
import { memoryMeter } from '@behest/sdk/enforce';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { expect, onTestFinished, test } from 'vitest';
import { countInPostgres, countInRedis } from '../../docs/guides/examples/choose-a-meter.ts';
import { protectedMcpServer } from '../../docs/guides/examples/protected-mcp-server.ts';
import {
  connectPostgres,
  connectRedis,
  counterOf,
  newDatabase,
  newTenant,
} from '../../packages/meter/test/stores.ts';
import { DEVELOPER, startIssuer } from '../../packages/sdk/test/issuer.ts';
import { filesServer } from '../../packages/sdk/test/mcp-files.ts';
import { freePort } from '../../scripts/machine/ports.ts';
import { blocksOf } from './steps.ts';

const textOf = (path: string) => readFileSync(join(import.meta.dirname, '../../docs/guides', path), 'utf8');

const linesOf = (code: string) =>
  code
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);

/** The object literal that a guide shows, so that the test runs what is written there. */
function manifestIn(page: string): object {
  const [, literal = ''] = /manifests: \[\n(.*?)^ {2}\],/ms.exec(textOf(page)) ?? [];
  return new Function(`return ${literal.trim().replace(/,$/, '')}`)();
}

test('the ten lines of the guide protect a server', async () => {
  const page = 'protect-an-mcp-server.md';
  const shown = blocksOf(`docs/guides/${page}`, 'ts')[1] ?? '';
  const example = linesOf(textOf('examples/protected-mcp-server.ts')).join('\n');
  expect(linesOf(shown).length).toBeLessThanOrEqual(10);
  expect(example).toContain(linesOf(shown).join('\n'));

  const issuer = await startIssuer();
  const port = await freePort();
  const resource = `http://127.0.0.1:${port}/mcp`;
  const manifests = [manifestIn(page)];
  const behest = new Behest({
    apiKey: null,
    baseUrl: issuer.url,
    developerId: DEVELOPER,
    manifests,
    meter: memoryMeter(),
  });
  const newServer = () => filesServer().server;
  const options = { behest, resource, authorizationServer: issuer.url, connector: 'files', newServer };
  const server = protectedMcpServer(options).listen(port, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const token = await issuer.token({ aud: resource, scp: ['tool:files:read'] });
  const client = new Client({ name: 'test', version: '1.0.0' });
  const requestInit = { headers: { authorization: `Bearer ${token}` } };
  await client.connect(new StreamableHTTPClientTransport(new URL(resource), { requestInit }));
  onTestFinished(() => client.close());

  expect((await fetch(resource, { method: 'POST' })).status).toBe(401);
  expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(['read_file', 'list_files']);
  const good = await client.callTool({ name: 'read_file', arguments: { path: '/data/reports/may.txt' } });
  expect(good.content).toEqual([{ type: 'text', text: 'read_file was called' }]);
  const bad = await client.callTool({ name: 'read_file', arguments: { path: '/etc/passwd' } });
  expect(bad.isError).toBe(true);
});

test('both meters of the guide count', async () => {
  const example = linesOf(textOf('examples/choose-a-meter.ts'))
    .join('\n')
    .replaceAll('return redisMeter', 'const meter = redisMeter');
  for (const code of blocksOf('docs/guides/write-a-manifest.md', 'ts').filter((block) =>
    block.includes('Meter('),
  ))
    expect(example).toContain(linesOf(code).join('\n'));
  const alerts: string[] = [];
  const alert = (what: string) => alerts.push(what);
  const redis = await connectRedis();
  const meters = [
    countInRedis(redis, alert),
    await countInPostgres(connectPostgres(await newDatabase()), alert),
  ];

  for (const meter of meters) {
    const tenant = newTenant();
    const counter = counterOf({ limit: 1 });
    expect(await meter.reserve(tenant, 'call-1', [counter])).toMatchObject({ reserved: true });
    expect(await meter.reserve(tenant, 'call-2', [counter])).toMatchObject({ full: 0 });
  }
  await redis.flushDb();
  const [inRedis] = meters;
  const known = newTenant();
  await inRedis?.reserve(known, 'call-1', [counterOf()]);
  await redis.flushDb();
  await expect(inRedis?.reserve(known, 'call-2', [counterOf()])).rejects.toMatchObject({
    problem: 'data_loss',
  });
  expect(alerts).toEqual(['missing']);
});
