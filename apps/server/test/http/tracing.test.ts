import { describe, expect, test, vi } from 'vitest';
import { type Span, startCollector } from '../app/collector.ts';
import { startReceiver } from '../app/receiving.ts';
import { follow } from '../app/streams.ts';
import { execute } from '../servers/postgres.ts';
import { startHere } from '../servers/start-here.ts';
import { goodSettings, startServer } from '../servers/start-server.ts';

vi.setConfig({ testTimeout: 120_000 }); // a process takes seconds to start on a machine that is busy

/**
 * Reports each loaded module of OpenTelemetry, except for its API, which the client of the metrics loads too.
 */
const watch = `
  import { registerHooks } from 'node:module';
  registerHooks({
    load(url, context, nextLoad) {
      if (/(node_modules.@opentelemetry.|opentelemetry-)(?!api)/.test(url)) console.log(JSON.stringify({ msg: 'loaded', url }));
      return nextLoad(url, context);
    },
  });`;
const watched = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(watch)}` };

async function running(env: Readonly<Record<string, string>>) {
  const { settings, url } = await goodSettings();
  const server = startHere({ ...settings, ...env });
  await server.ready();
  const stop = async () => {
    server.signal();
    return (await server.exited).code;
  };
  return { server, settings, url, stop };
}

/** A process of its own, which reports the modules that it loads. */
async function runningApart(env: Readonly<Record<string, string>>) {
  const { settings, url } = await goodSettings();
  const server = startServer({ ...settings, ...watched, ...env });
  await server.ready();
  const stop = async () => {
    server.child.kill('SIGTERM');
    await server.exited;
  };
  return { server, url, stop };
}

function ask(url: string, headers: Readonly<Record<string, string>> = {}, body?: object): Promise<Response> {
  const all = { ...headers, ...(body && { 'content-type': 'application/json' }) };
  return fetch(url, { headers: all, ...(body && { method: 'POST', body: JSON.stringify(body) }) });
}

/** The spans below a span, indented by level, in the order in which they ended. */
function treeBelow({ spanId }: Span, spans: readonly Span[], indent = ''): string[] {
  return spans
    .filter(({ parentSpanId }) => parentSpanId === spanId)
    .flatMap((span) => [indent + span.name, ...treeBelow(span, spans, `${indent}  `)]);
}

function spanNamed(name: string, spans: readonly Span[]): Span {
  const found = spans.find((span) => span.name === name);
  if (!found) throw new Error(`No span ${name} among ${spans.map((span) => span.name).join(', ')}.`);
  return found;
}

describe('a server with a collector', () => {
  test('sends a request and its calls to the stores as one tree, before a stop is over', async () => {
    const collector = await startCollector();
    const { server, url, stop } = await running({ ...collector.env, OTEL_SERVICE_NAME: 'authorization' });
    const { apiKey } = Object(await (await ask(`${url}/v1/signup`, {}, { name: 'Acme' })).json());
    const given = { traceId: 'ab'.repeat(16), spanId: 'cd'.repeat(8) };
    const authorization = `Bearer ${apiKey}`;

    await ask(`${url}/v1/agents/ag_unknown`, { authorization, 'x-request-id': 'r-1' });
    await ask(`${url}/v1/me`, { authorization }); // makes the key known
    await ask(
      `${url}/v1/agents`,
      { authorization, traceparent: `00-${given.traceId}-${given.spanId}-01` },
      { name: 'Booker' },
    );
    await ask(`${url}/nowhere/secret?x=secret`, { 'x-request-id': 'r-2', traceparent: '00-nonsense-01' });
    const code = await stop();

    expect(code).toBe(0);
    const spans = collector.spans();
    const reading = spanNamed('GET /v1/agents/:id', spans);
    expect(reading.attributes).toEqual({
      'http.request.method': 'GET',
      'http.route': '/v1/agents/:id',
      'http.response.status_code': 404,
      'behest.request_id': 'r-1',
    });
    expect(treeBelow(reading, spans)).toEqual([
      'redis charge',
      'with api_key_index', // a key that the process does not know yet
      'redis charge',
      'select agents',
    ]);
    const writing = spanNamed('POST /v1/agents', spans);
    expect(writing).toMatchObject({ traceId: given.traceId, parentSpanId: given.spanId });
    expect(treeBelow(writing, spans)).toEqual([
      'redis charge',
      'begin',
      'select take_quota',
      'insert agents',
      'insert agent_index',
      'select record_acts',
      'commit',
    ]);
    expect(spanNamed('insert agents', spans).attributes).toEqual({
      'db.system.name': 'postgresql',
      'db.operation.name': 'insert',
      'db.query.text': expect.stringMatching(/^insert into "agents" .* values \(\$1, \$2,/),
    });
    expect(spanNamed('redis charge', spans).attributes).toEqual({
      'db.system.name': 'redis',
      'db.operation.name': 'charge',
    });
    expect(treeBelow(spanNamed('job expiry of requests', spans), spans)).not.toEqual([]);
    expect(collector.resources()[0]).toMatchObject({
      'service.name': 'authorization',
      'service.version': '0.6.0',
      'service.instance.id': expect.any(String),
    });
    const lost = spanNamed('GET', spans);
    expect(lost.attributes).toMatchObject({ 'behest.request_id': 'r-2', 'http.response.status_code': 404 });
    for (const [reqId, { traceId, spanId }] of Object.entries({ 'r-1': reading, 'r-2': lost })) {
      const ofRequest = server.lines.filter((line) => line.reqId === reqId);
      expect(ofRequest).toEqual([expect.objectContaining({ msg: 'request', traceId, spanId })]);
    }
    expect(server.lines.find(({ msg }) => msg === 'ready')).not.toHaveProperty('traceId');
    expect(collector.bodies.join()).not.toMatch(/nowhere|secret|nonsense/);
    expect(collector.bodies[0]).toMatch(/^POST \/v1\/traces application\/json\n/);
  });

  test('sends no later calls of a live stream below its request', async () => {
    const collector = await startCollector();
    const { url, stop } = await running(collector.env);
    const { apiKey } = Object(await (await ask(`${url}/v1/signup`, {}, { name: 'Acme' })).json());
    const stream = await follow({ url, apiKey });
    await ask(`${url}/v1/agents`, { authorization: `Bearer ${apiKey}` }, { name: 'Booker' });
    await stream.first(1);
    await stop();

    const spans = collector.spans();
    expect(treeBelow(spanNamed('GET /v1/events/stream', spans), spans)).toEqual([
      'redis charge',
      'with api_key_index',
      'redis charge',
      'redis takeSlot',
      'select outbox_events', // where it begins, and nothing after that
    ]);
    expect(treeBelow(spanNamed('POST /v1/agents', spans), spans).at(-1)).toBe('commit');
  });

  test('has the call of a webhook below its delivery', async () => {
    const collector = await startCollector();
    const receiver = await startReceiver();
    const { url, stop } = await running({ ...collector.env, WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true' });
    const { apiKey } = Object(await (await ask(`${url}/v1/signup`, {}, { name: 'Acme' })).json());
    const headers = { authorization: `Bearer ${apiKey}` };
    await ask(`${url}/v1/webhooks`, headers, { url: receiver.url, events: ['agent.created'] });
    await ask(`${url}/v1/agents`, headers, { name: 'Booker' });
    await vi.waitFor(() => expect(receiver.received).toHaveLength(1), 20_000);
    await stop();

    const spans = collector.spans();
    expect(treeBelow(spanNamed('webhook delivery', spans), spans)).toContain('http POST');
  });

  test('names the kind of a failure, and not its text', async () => {
    const collector = await startCollector();
    const { server, url, stop, settings } = await running(collector.env);
    await execute(settings.DATABASE_URL, 'alter table developers rename to others');
    const { status } = await ask(`${url}/v1/signup`, { 'x-request-id': 'r-1' }, { name: 'Acme' });
    await stop();

    expect(status).toBe(500);
    const spans = collector.spans();
    const { attributes, status: outcome, traceId } = spanNamed('POST /v1/signup', spans);
    expect([attributes['error.type'], outcome]).toEqual(['500', { code: 2 }]);
    const ofRequest = spans.filter((span) => span.traceId === traceId); // jobs miss the table too
    const failed = ofRequest.filter((span) => span.attributes['error.type'] === '42P01'); // undefined_table
    expect(failed.map((span) => span.status)).toEqual([{ code: 2 }]);
    expect(collector.bodies.join()).not.toContain('does not exist');
    expect(server.lines.find(({ msg }) => msg === 'request failed')).toMatchObject({
      traceId: failed[0]?.traceId,
    });
  });

  test('serves while the collector is away, and waits for it for five seconds of a stop', async () => {
    const silent = await startCollector({ answers: false });
    const [hung, away] = await Promise.all([
      running(silent.env),
      running({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' }),
    ]);
    const { status } = await ask(`${away.url}/health`);
    await ask(`${hung.url}/health`);

    const before = performance.now();
    const codes = await Promise.all([away.stop(), hung.stop()]);

    expect([status, ...codes]).toEqual([200, 0, 0]);
    expect(performance.now() - before).toBeGreaterThan(4900);
    for (const { lines } of [away.server, hung.server]) {
      expect(lines.filter(({ msg }) => /spans/.test(String(msg)))).toEqual([
        expect.objectContaining({ level: 'warn', msg: 'spans cannot be sent, and are lost' }),
      ]);
    }
    expect(silent.spans().length).toBeGreaterThan(0);
  });
});

test('OpenTelemetry is loaded with a collector, and not without', async () => {
  const collector = await startCollector();
  const on = await runningApart(collector.env);
  const off = await runningApart({ OTEL_SERVICE_NAME: 'behest', OTEL_TRACES_EXPORTER: 'otlp' });
  await ask(`${off.url}/health`, { traceparent: `00-${'ab'.repeat(16)}-${'cd'.repeat(8)}-01` });
  await Promise.all([on.stop(), off.stop()]);

  const loadedBy = ({ server }: typeof on) => server.lines.filter(({ msg }) => msg === 'loaded').length;
  expect(loadedBy(on)).toBeGreaterThan(3); // packed, they are four
  expect(loadedBy(off)).toBe(0);
  expect(off.server.lines.filter((line) => 'traceId' in line)).toEqual([]);
});
