import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** One open connection with one request at a time. */
export interface Client {
  readonly ask: (request: SentRequest) => Promise<Answer>;
  readonly close: () => void;
}

export interface SentRequest {
  readonly method: string;
  readonly path: string;
  readonly apiKey?: string;
  readonly body?: object;
  /** A body as OAuth has it, in place of JSON. */
  readonly form?: Readonly<Record<string, string>>;
}

export interface Answer {
  readonly status: number;
  /** The status line and the headers. */
  readonly head: string;
  readonly body: Buffer;
  /** True when the service closes the connection after this answer. */
  readonly isLast: boolean;
}

const HEADERS_END = Buffer.from('\r\n\r\n');
const LAST = /\r\nconnection: close/i;
const LENGTH = /\r\ncontent-length: (\d+)/i;

/**
 * Speaks the part of HTTP that the service uses over loopback. The client shares the machine with the service,
 * and a general client would use as much of it as the service does.
 * @param localAddress the address that the service sees
 */
export async function openClient(port: number, localAddress?: string): Promise<Client> {
  const socket = connect({ port, host: '127.0.0.1', noDelay: true, ...(localAddress && { localAddress }) });
  await once(socket, 'connect');
  const answers = answersOn(socket);
  return {
    ask(request) {
      const answer = answers();
      socket.write(textOf(request));
      return answer;
    },
    close: () => socket.destroy(),
  };
}

/** The request as it is sent. */
export function textOf({ method, path, apiKey, body, form }: SentRequest): string {
  const json = body === undefined ? '' : JSON.stringify(body);
  const text = form ? new URLSearchParams(form).toString() : json;
  const type = form ? 'application/x-www-form-urlencoded' : 'application/json';
  const lines = [
    `${method} ${path} HTTP/1.1`,
    'host: localhost',
    ...(apiKey === undefined ? [] : [`authorization: Bearer ${apiKey}`]),
    ...(text ? [`content-type: ${type}`, `content-length: ${Buffer.byteLength(text)}`] : []),
  ];
  return `${lines.join('\r\n')}\r\n\r\n${text}`;
}

/** @returns a function that waits for the next answer */
function answersOn(socket: Socket): () => Promise<Answer> {
  let waiting: { resolve: (answer: Answer) => void; reject: (error: Error) => void } | undefined;
  let received: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk]);
    const answer = answerIn(received);
    if (!answer) return;
    received = Buffer.alloc(0); // with one request at a time, nothing follows its answer
    waiting?.resolve(answer);
  });
  const fail = () => waiting?.reject(new Error('The service closed the connection.'));
  socket.once('close', fail).once('error', fail);
  return () =>
    new Promise((resolve, reject) => {
      waiting = { resolve, reject };
    });
}

function answerIn(received: Buffer): Answer | undefined {
  const headersEnd = received.indexOf(HEADERS_END);
  if (headersEnd < 0) return undefined;
  const headers = received.toString('latin1', 0, headersEnd);
  const start = headersEnd + HEADERS_END.length;
  const end = start + Number(LENGTH.exec(headers)?.[1] ?? 0);
  if (received.length < end) return undefined;
  const body = received.subarray(start, end);
  return { status: Number(headers.slice(9, 12)), head: headers, body, isLast: LAST.test(headers) };
}
