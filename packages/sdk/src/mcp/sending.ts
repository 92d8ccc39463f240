import type { ServerResponse } from 'node:http';
import type { Refusal } from '../http/guard.ts';

export function refuse(response: ServerResponse, { status, headers, body }: Refusal): void {
  send(response, status, headers, body);
}

/** Says that the fault is the server's, in the form of JSON-RPC. */
export function fail(response: ServerResponse): void {
  send(response, 500, {}, { jsonrpc: '2.0', id: null, error: { code: -32_603, message: 'Internal error' } });
}

export function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
