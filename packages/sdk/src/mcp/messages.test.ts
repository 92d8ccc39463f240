import type { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import type { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import type { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { WebSocketClientTransport } from '@modelcontextprotocol/sdk/client/websocket.js';
import { InMemoryTransport } from '@modelcontextprotocol/sdk/inMemory.js';
import type { SSEServerTransport } from '@modelcontextprotocol/sdk/server/sse.js';
import type { StdioServerTransport } from '@modelcontextprotocol/sdk/server/stdio.js';
import type { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import type { WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/webStandardStreamableHttp.js';
import type { Transport as Official } from '@modelcontextprotocol/sdk/shared/transport.js';
import type { JSONRPCMessage } from '@modelcontextprotocol/sdk/types.js';
import { expect, expectTypeOf, test } from 'vitest';
import type { Transport } from './messages.ts';

/** As in the first revisions, whose listeners got the message alone. */
interface Early {
  start(): Promise<void>;
  send(message: JSONRPCMessage): Promise<void>;
  close(): Promise<void>;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
}

test('every transport of the official SDK is one to the middleware', async () => {
  expectTypeOf<Official>().toExtend<Transport>();
  expectTypeOf<Early>().toExtend<Transport>();
  expectTypeOf<InMemoryTransport>().toExtend<Transport>();
  expectTypeOf<StdioServerTransport>().toExtend<Transport>();
  expectTypeOf<SSEServerTransport>().toExtend<Transport>();
  expectTypeOf<StreamableHTTPServerTransport>().toExtend<Transport>();
  expectTypeOf<WebStandardStreamableHTTPServerTransport>().toExtend<Transport>();
  expectTypeOf<StdioClientTransport>().toExtend<Transport>();
  expectTypeOf<SSEClientTransport>().toExtend<Transport>();
  expectTypeOf<StreamableHTTPClientTransport>().toExtend<Transport>();
  expectTypeOf<WebSocketClientTransport>().toExtend<Transport>();
  expectTypeOf<Transport['send']>().parameter(0).toBeUnknown();
  expectTypeOf<{ start(): Promise<void>; close(): Promise<void> }>().not.toExtend<Transport>();

  const [near, far]: readonly Transport[] = InMemoryTransport.createLinkedPair();
  const heard: unknown[] = [];
  if (!near || !far) throw new Error('The pair has two ends.');
  far.onmessage = (message) => heard.push(message);
  await far.start();
  await near.send({ jsonrpc: '2.0', method: 'ping' });
  expect(heard).toEqual([{ jsonrpc: '2.0', method: 'ping' }]);
});
