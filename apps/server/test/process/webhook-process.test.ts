import { once } from 'node:events';
import { expect, test, vi } from 'vitest';
import { startReceiver } from '../app/receiver.ts';
import { startHere } from '../servers/start-here.ts';
import { freePort, goodSettings, startServer } from '../servers/start-server.ts';

vi.setConfig({ testTimeout: 120_000 }); // a process takes seconds to start on a busy machine
const PATIENCE = { timeout: 20_000, interval: 50 }; // less than the 30 seconds of the poll

test('two processes deliver each event once, right after the commit, and a new process delivers the rest', async () => {
  const { settings, url } = await goodSettings();
  const allowing = {
    ...settings,
    VAULT_ENCRYPTION_KEY: 'a1'.repeat(32),
    WEBHOOK_ALLOW_PRIVATE_HOSTS: 'true',
  };
  const port = String(await freePort());
  const [one, other] = [startServer(allowing), startHere({ ...allowing, PORT: port })];
  await Promise.all([one.ready(), other.ready()]);
  const receiver = await startReceiver();
  const idsReceived = () => receiver.received.map(({ headers }) => headers['webhook-id']);

  let apiKey = '';
  const post = async (base: string, path: string, body: object) => {
    const headers = {
      'content-type': 'application/json',
      ...(apiKey && { authorization: `Bearer ${apiKey}` }),
    };
    const answer = await fetch(base + path, { method: 'POST', headers, body: JSON.stringify(body) });
    expect(answer.ok).toBe(true);
    return Object(await answer.json());
  };
  ({ apiKey } = await post(url, '/v1/signup', { name: 'Acme', mode: 'sandbox' }));
  await post(url, '/v1/webhooks', { url: receiver.url, events: ['agent.created'] });
  const bases = [url, `http://127.0.0.1:${port}`];

  for (let at = 0; at < 10; at += 1)
    await post(String(bases[at % 2]), '/v1/agents', { name: 'Travel booker' });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(10), PATIENCE);
  expect(new Set(idsReceived()).size).toBe(10);

  // Only the process that is killed during the delivery could send it.
  other.signal();
  expect((await other.exited).code).toBe(0);
  receiver.answer(() => {});
  await post(url, '/v1/agents', { name: 'Travel booker' });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(11), PATIENCE);
  one.child.kill('SIGKILL');
  await once(one.child, 'exit');
  receiver.answerStatus(204);

  const next = startHere(allowing);
  await next.ready();
  await post(url, '/v1/agents', { name: 'Travel booker' });
  await vi.waitFor(() => expect(receiver.received).toHaveLength(12), PATIENCE);
  expect(new Set(idsReceived()).size).toBe(12); // the interrupted delivery waits for the end of its lease
});
