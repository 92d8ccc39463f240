import { createClient } from '@redis/client';
import { describe, expect, onTestFinished, test } from 'vitest';
import { grantTo, startSandbox } from '../../../../test/app/flow.ts';
import { type Call, type Developer, startApp } from '../../../../test/app/start-app.ts';
import { freePort, goodSettings, redisUrl, startServer } from '../../../../test/servers/start-server.ts';

const env = { CAPS_METER: 'redis' };

async function sender(acme: Developer) {
  const tools = { send: { permission: 'write', caps: { per_day: 2 } }, list: 'read' };
  await acme('PUT', '/v1/manifests/mail', { $schema: 'x', connector: 'mail', tools });
  const { grantToken } = await grantTo(acme, { scopes: ['tool:mail:write'] });
  const body = { grantToken, connector: 'mail', arguments: {} };
  return async (tool: string, ask: Call = acme, callId?: string) =>
    (await ask('POST', '/v1/enforce', { ...body, tool, ...(callId && { callId }) })).json();
}

async function redis() {
  const client = createClient({ url: redisUrl() });
  await client.connect();
  onTestFinished(() => client.destroy());
  return client;
}

describe('caps that are counted in Redis', () => {
  test('admit exactly as many calls of two processes as they say, and take back what was not sent', async () => {
    const { acme, databaseUrl } = await startSandbox({ env });
    const enforce = await sender(acme);
    const there = (await startApp({ env, databaseUrl })).calling(acme.apiKey);

    const first = await enforce('send', there, 'call-unsent');
    const refund = await acme('POST', '/v1/enforce/call-unsent/refund', {});
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, at) => enforce('send', at % 2 ? acme : there)),
    );

    expect([first.allowed, refund.statusCode]).toEqual([true, 204]);
    expect(answers.filter(({ allowed }) => allowed)).toHaveLength(2);
  });

  test('admit nobody after Redis was emptied, also by a process that starts later', async () => {
    const { acme, databaseUrl, logLines } = await startSandbox({ env, logLevel: 'info' });
    const enforce = await sender(acme);
    await enforce('send');
    const client = await redis();
    const keys = await client.keys('bh:cap:*');
    await client.del(keys);
    const later = await startApp({ env, databaseUrl });

    const answers = [await enforce('send'), await enforce('send', later.calling(acme.apiKey))];

    const denied = { allowed: false, reasonCode: 'cap_exceeded', subReason: 'meter_unavailable' };
    expect(answers).toMatchObject([denied, denied]);
    expect((await enforce('list')).allowed).toBe(true);
    const lost = logLines.map((line) => JSON.parse(line)).filter(({ level }) => level === 'fatal');
    expect(lost).toMatchObject([{ what: 'missing', msg: expect.stringContaining('were lost') }]);
  });

  test('deny while Redis is away, and other calls go on', async () => {
    const CAPS_REDIS_URL = `redis://127.0.0.1:${await freePort()}`;
    const { acme } = await startSandbox({ env: { ...env, CAPS_REDIS_URL } });
    const enforce = await sender(acme);

    expect(await enforce('send')).toMatchObject({ allowed: false, subReason: 'meter_unavailable' });
    expect((await enforce('list')).allowed).toBe(true);
  });
});

describe('a start with a Redis', () => {
  async function withoutInfo() {
    const client = await redis();
    await client.sendCommand(['ACL', 'SETUSER', 'careful', 'on', '>secret', '~*', '&*', '+@all', '-info']);
    return Object.assign(new URL(redisUrl()), { username: 'careful', password: 'secret' }).href;
  }

  test('is refused where its settings cannot be read', async () => {
    const CAPS_REDIS_URL = await withoutInfo();

    const { code, lines } = await startServer({ ...(await goodSettings()).settings, ...env, CAPS_REDIS_URL })
      .exited;

    expect(code).toBe(1);
    expect(JSON.stringify(lines)).toContain('INFO is forbidden');
    expect(JSON.stringify(lines)).not.toContain('secret@');
  });

  test('goes on, with a warning, where the operator vouches for settings that cannot be read', async () => {
    const settings = { CAPS_REDIS_URL: await withoutInfo(), CAPS_REDIS_ASSERT_SAFE: 'true' };

    const server = startServer({ ...(await goodSettings()).settings, ...env, ...settings });
    await server.ready();

    expect(server.lines.filter(({ msg }) => String(msg).includes('vouches'))).toHaveLength(1);
  });

  test('goes on while Redis is away', async () => {
    const CAPS_REDIS_URL = `redis://127.0.0.1:${await freePort()}`;

    await startServer({ ...(await goodSettings()).settings, ...env, CAPS_REDIS_URL }).ready();
  });
});
