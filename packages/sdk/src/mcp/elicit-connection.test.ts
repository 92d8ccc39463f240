import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import {
  CallToolRequestSchema,
  ElicitationCompleteNotificationSchema,
  UrlElicitationRequiredError,
} from '@modelcontextprotocol/sdk/types.js';
import { describe, expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { connectSessionIn, elicitConnection, type ToolCall } from './elicit-connection.ts';

const session = {
  id: 'conn_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  connectUrl: 'https://auth.test/connect?session=conn_01K9Z3QW5M8T2V4X6Y7Z8A9B0C#t=ticket',
  service: 'files',
  principalId: 'user_42',
};
const key = Buffer.alloc(32, 7);
const params = { mode: 'url', url: session.connectUrl, message: 'Connect your account at files to go on.' };
const call = { name: 'list', arguments: { path: '/a', deep: { b: 1, a: [1, 2] } } };
const raw = z.looseObject({});
/** The official SDK drops the members of 2026-07-28 that it does not know. */
const CallSchema = CallToolRequestSchema.extend({
  params: CallToolRequestSchema.shape.params.extend({ requestState: z.string().optional() }),
});

/** A server of the official SDK, whose tool works once the account is connected. */
async function serverOf(revision: string) {
  const state = { isConnected: false, tell: async () => {} };
  const server = new Server({ name: 'files', version: '1.0.0' }, { capabilities: { tools: {} } });
  server.setRequestHandler(CallSchema, async ({ params: { name, arguments: args, requestState } }) => {
    const asked: ToolCall = { name, arguments: args ?? {} };
    const known = connectSessionIn(requestState, { key, call: asked, principalId: 'user_42' });
    if (state.isConnected) return { content: [{ type: 'text', text: known ?? 'no state' }] };
    const elicited = elicitConnection(session, { revision, key, call: asked });
    if (elicited.result) return { content: [], ...elicited.result };
    state.tell = () => server.notification(elicited.completed);
    throw new UrlElicitationRequiredError([...elicited.error.data.elicitations]);
  });
  const client = new Client(
    { name: 'agent', version: '1.0.0' },
    { capabilities: { elicitation: { url: {} } } },
  );
  const [near, far] = InMemoryTransport.createLinkedPair();
  await Promise.all([server.connect(far), client.connect(near)]);
  onTestFinished(() => client.close());
  const ask = (more: object = {}) =>
    client.request({ method: 'tools/call', params: { ...call, ...more } }, raw);
  return { state, client, ask };
}

describe('a client of 2026-07-28', () => {
  test('gets a result that asks for input, and repeats the call with its state', async () => {
    const { state, ask } = await serverOf('2026-07-28');

    const { resultType, inputRequests, requestState } = await ask();

    expect({ resultType, inputRequests }).toEqual({
      resultType: 'input_required',
      inputRequests: { [session.id]: { method: 'elicitation/create', params } },
    });
    state.isConnected = true;
    const again = await ask({ requestState, inputResponses: { [session.id]: { action: 'accept' } } });
    expect(again.content).toEqual([{ type: 'text', text: session.id }]);
    const other = await ask({ requestState, arguments: { path: '/b' } });
    expect(other.content).toEqual([{ type: 'text', text: 'no state' }]);
  });
});

describe('a client of 2025-11-25', () => {
  test('gets the error of the SDK, and is told of the end', async () => {
    const { state, client, ask } = await serverOf('2025-11-25');
    const told: string[] = [];
    client.setNotificationHandler(ElicitationCompleteNotificationSchema, ({ params: { elicitationId } }) => {
      told.push(elicitationId);
    });

    const error = await ask().catch((caught: unknown) => caught);

    expect(error).toBeInstanceOf(UrlElicitationRequiredError);
    expect(error).toMatchObject({ code: -32042, elicitations: [{ ...params, elicitationId: session.id }] });
    await state.tell();
    await expect.poll(() => told).toEqual([session.id]);
  });
});

describe('the state of a request', () => {
  const now = new Date('2026-08-01T00:00:00Z');
  const sealed = () => {
    const { result } = elicitConnection(session, { revision: '2026-07-28', key, call, now });
    return String(result?.requestState);
  };
  const read = (state: unknown, more: object = {}) =>
    connectSessionIn(state, { key, call, principalId: 'user_42', now, ...more });

  test('names the session for ten minutes', () => {
    const state = sealed();

    expect(read(state)).toBe(session.id);
    expect(read(state, { now: new Date(now.getTime() + 599_999) })).toBe(session.id);
    expect(read(state, { now: new Date(now.getTime() + 600_000) })).toBeUndefined();
  });

  test('is the same for arguments in another order', () => {
    const turned = { name: 'list', arguments: { deep: { a: [1, 2], b: 1 }, path: '/a' } };

    expect(read(sealed(), { call: turned })).toBe(session.id);
  });

  test.each([
    ['another principal', { principalId: 'user_43' }],
    ['another tool', { call: { ...call, name: 'remove' } }],
    ['other arguments', { call: { ...call, arguments: { path: '/b' } } }],
    ['a list in another order', { call: { ...call, arguments: { path: '/a', deep: { b: 1, a: [2, 1] } } } }],
    ['another server', { key: Buffer.alloc(32, 8) }],
  ])('is nothing for %s', (_, more) => {
    expect(read(sealed(), more)).toBeUndefined();
  });

  test('is nothing when it is absent or changed, and shows neither the session nor the principal', () => {
    const state = sealed();
    const bytes = Buffer.from(state, 'base64url');
    for (const at of [0, 15, bytes.length - 1]) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(read(changed.toString('base64url')), `byte ${at}`).toBeUndefined();
    }
    expect([undefined, null, 1, '', 'a', state.slice(0, 20)].map((each) => read(each))).toEqual(
      Array(6).fill(undefined),
    );
    expect(bytes.toString('latin1')).not.toMatch(/conn_|user_42/);
    expect(sealed()).not.toBe(state);
  });
});
