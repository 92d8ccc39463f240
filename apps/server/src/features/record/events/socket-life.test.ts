import { expect, test, vi } from 'vitest';
import { emit } from '../../../../test/app/events.ts';
import { registerAgent } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { followSocket } from '../../../../test/app/sockets.ts';
import type { TestOptions } from '../../../../test/app/start-app.ts';
import { countOpen } from '../../../../test/app/streams.ts';

async function started(options: TestOptions = {}) {
  const service = await startListening(options);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { url } = service;
  const followAs = (apiKey: string, query = '') => followSocket({ url, apiKey, query });
  return { ...service, acme, followAs };
}

test('a WebSocket is pinged at once and every 30 seconds', async () => {
  const { acme, followAs, advance } = await started();
  const stream = await followAs(acme.apiKey);

  advance(29);
  await registerAgent(acme);
  await stream.first(1);
  await stream.heard();
  expect(stream.pings()).toBe(1);
  advance(1);
  await stream.until(() => stream.pings() > 1);
  await stream.heard();

  expect(stream.socket.readyState).toBe(stream.socket.OPEN);
});

test('I15 a WebSocket whose client does not answer a ping is cut off at the next ping', async () => {
  const { acme, url, followAs, advance } = await started();
  const mute = await followSocket({ url, apiKey: acme.apiKey, autoPong: false });
  const answering = await followAs(acme.apiKey);
  await mute.until(() => mute.pings() === 1);
  await answering.heard();

  advance(30);

  expect((await mute.ended).code).toBe(1006);
  await registerAgent(acme);
  expect(await answering.first(1)).toHaveLength(1);
});

test('I15 a WebSocket is closed with 1008 within a minute after its key was revoked, and no other is', async () => {
  const { acme, followAs, advance } = await started();
  const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'spare', role: 'runtime' })).json();
  const [stream, other] = [await followAs(apiKey), await followAs(acme.apiKey)];
  await acme('DELETE', `/v1/keys/${keyId}`);

  advance(60);

  expect(await stream.ended).toEqual({ code: 1008, reason: 'The API key is no longer valid' });
  await registerAgent(acme);
  expect(await other.first(2)).toHaveLength(2);
});

test('a service that stops closes WebSockets with 1001, and another instance has the missed events', async () => {
  const first = await started({ isShared: true });
  const second = await started();
  const stream = await first.followAs(first.acme.apiKey);
  const [seen] = await emit(first, first.acme, ['agent.created']);
  await stream.first(1);

  await first.stop();

  expect((await stream.ended).code).toBe(1001);
  const [missed] = await emit(second, first.acme, ['agent.updated']);
  const resumed = await second.followAs(first.acme.apiKey, `lastEventId=${seen}`);
  expect(await resumed.first(1)).toEqual([missed]);
});

test('a service stops although a client does not read the close', async () => {
  const service = await started({ isShared: true });
  const stream = await service.followAs(service.acme.apiKey);
  stream.socket.pause();

  await service.stop();

  stream.socket.resume();
  expect((await stream.ended).code).toBe(1001);
});

test('a WebSocket is one request in the log and in the metrics, however it ends, and its key is in neither', async () => {
  const { acme, followAs, url, logLines } = await started({ logLevel: 'debug' });
  const stream = await followAs(acme.apiKey);
  await registerAgent(acme);
  await stream.first(1);

  stream.socket.terminate();
  await vi.waitUntil(async () => (await countOpen(url)) === 0, { timeout: 5000 });

  const requests = logLines.map((line) => JSON.parse(line)).filter(({ reqId }) => reqId);
  expect(requests.filter(({ route }) => route !== '/metrics')).toMatchObject([
    { msg: 'request', route: '/v1/signup' },
    { msg: 'request', route: '/v1/events/ws', status: 101 },
    { msg: 'request', route: '/v1/agents' },
  ]);
  expect(logLines.join()).not.toContain(acme.apiKey);
  expect(await (await fetch(`${url}/metrics`)).text()).toContain(
    'http_request_duration_seconds_count{method="GET",route="/v1/events/ws",status="1xx"} 1',
  );
});
