import type { ServerResponse } from 'node:http';
import type { Refusal } from '../http/guard.ts';

export function refuse(response: ServerResponse, { status, headers, body }: Refusal): void {
  send(response, status, headers, body);
}

export function send(
  response: ServerResponse,
  status: number,
  headers: Readonly<Record<string, string>>,
  body: unknown,
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
}
