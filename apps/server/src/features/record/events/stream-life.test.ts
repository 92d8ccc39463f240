import { describe, expect, test, vi } from 'vitest';
import { registerAgent } from '../../../../test/app/flow.ts';
import { startListening } from '../../../../test/app/listening.ts';
import { followSocket } from '../../../../test/app/sockets.ts';
import type { TestOptions } from '../../../../test/app/start-app.ts';
import { countOpen, emit, follow } from '../../../../test/app/streams.ts';
import { redisUrl } from '../../../../test/servers/start-server.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import { redisStore } from '../../../platform/redis/redis-store.ts';

async function started(options: TestOptions = {}) {
  const service = await startListening(options);
  const acme = await service.asDeveloper({ mode: 'sandbox' });
  const { url } = service;
  const followAs = (apiKey: string, lastEventId = '') => follow({ url, apiKey, lastEventId });
  return { ...service, acme, followAs };
}

test('a stream sends a keepalive every 30 seconds', async () => {
  const { acme, followAs, advance } = await started();
  const stream = await followAs(acme.apiKey);

  advance(29);
  await registerAgent(acme);
  await stream.first(1);
  expect(stream.comments()).toEqual(['keepalive']);
  advance(1);
  await stream.until(() => stream.comments().length > 1);

  expect(stream.comments()).toEqual(['keepalive', 'keepalive']);
});

test('I15 a stream ends within a minute after its key was revoked, and no other does', async () => {
  const { acme, followAs, advance } = await started();
  const { apiKey, keyId } = (await acme('POST', '/v1/keys', { name: 'spare', role: 'runtime' })).json();
  const [stream, other] = [await followAs(apiKey), await followAs(acme.apiKey)];
  await acme('DELETE', `/v1/keys/${keyId}`);

  advance(60);

  expect(await stream.ended).toBe('ended');
  expect(stream.comments().at(-1)).toBe('closing');
  await registerAgent(acme);
  expect(await other.first(2)).toHaveLength(2);
});

test('I15 a stream ends within a minute after its key has expired', async () => {
  const { acme, followAs, advance } = await started();
  const { apiKey } = (
    await acme('POST', '/v1/keys', { name: 'short', role: 'runtime', expiresIn: '1h' })
  ).json();
  const stream = await followAs(apiKey);

  advance(3600);

  expect(await stream.ended).toBe('ended');
});

test('a service that stops closes its streams with a comment, and another instance has the missed events', async () => {
  const first = await started({ isShared: true });
  const second = await started();
  const stream = await first.followAs(first.acme.apiKey);
  const [seen] = await emit(first, first.acme, ['agent.created']);
  await stream.first(1);

  await first.stop();

  expect(await stream.ended).toBe('ended');
  expect(stream.comments()).toEqual(['keepalive', 'closing']);
  const [missed] = await emit(second, first.acme, ['agent.updated']);
  const resumed = await second.followAs(first.acme.apiKey, seen);
  expect(await resumed.first(1)).toEqual([missed]);
});

test('streams go on while Redis is away, five in each process', async () => {
  const { acme, followAs, url } = await started({ env: { REDIS_URL: 'redis://127.0.0.1:1' } });

  const streams = [];
  for (let each = 0; each < 6; each += 1) streams.push(await followAs(acme.apiKey));
  await registerAgent(acme);

  expect(streams.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429]);
  for (const stream of streams.slice(0, 5)) expect(await stream.first(1)).toHaveLength(1);
  expect(await countOpen(url)).toBe(5);
});

test('the metrics count the time to the answer of a stream, not the time for which it was open', async () => {
  const { acme, followAs, url } = await started();
  await followAs(acme.apiKey);

  const text = await (await fetch(`${url}/metrics`)).text();

  expect(text).toContain(
    'http_request_duration_seconds_count{method="GET",route="/v1/events/stream",status="2xx"} 1',
  );
});

test('a stream is one line of the log, however it ends, and its key is in no line', async () => {
  const { acme, followAs, url, logLines } = await started({ logLevel: 'debug' });
  const stream = await followAs(acme.apiKey);
  await registerAgent(acme);
  await stream.first(1);

  stream.close();
  await vi.waitUntil(async () => (await countOpen(url)) === 0, { timeout: 5000 });

  const requests = logLines.map((line) => JSON.parse(line)).filter(({ reqId }) => reqId);
  expect(requests.filter(({ route }) => route !== '/metrics')).toMatchObject([
    { msg: 'request', route: '/v1/signup' },
    { msg: 'request', route: '/v1/events/stream', status: 200 },
    { msg: 'request', route: '/v1/agents' },
  ]);
  expect(logLines.join()).not.toContain(acme.apiKey);
});

test('a malformed hint wakes no stream, and does not count as a failure of Redis', async () => {
  const troubles: (Error | undefined)[] = [];
  const openOwn = (real: EphemeralStore) => {
    void real.close();
    return redisStore(redisUrl(), (error) => void troubles.push(error));
  };
  const { acme, followAs, store } = await started({ storeAs: openOwn });
  const stream = await followAs(acme.apiKey);

  for (const hint of ['', 'a later release', '{"of":"another form"}', 'null', '[]', '[1,{}]', '["x",7]']) {
    await store.publish('bh:events', hint);
  }
  await registerAgent(acme);

  expect(await stream.first(1)).toHaveLength(1);
  expect(troubles.filter((error) => error !== undefined)).toEqual([]);
});

describe('a socket', () => {
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
});
