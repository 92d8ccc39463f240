import { once } from 'node:events';
import { createServer } from 'node:http';
import { onTestFinished } from 'vitest';

export interface Span {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly attributes: Readonly<Record<string, unknown>>;
  /** 0 unset, 1 ok, 2 error. */
  readonly status: { readonly code: number };
}

/** A collector that keeps every byte of the spans. @param answers whether it ever answers. */
export async function startCollector({ answers = true } = {}) {
  const bodies: string[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (part: string) => {
      body += part;
    });
    request.on('end', () => {
      bodies.push(`${request.method} ${request.url} ${request.headers['content-type']}\n${body}`);
      if (answers) response.writeHead(200, { 'content-type': 'application/json' }).end('{}');
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;

  const resources = () => bodies.flatMap((body) => JSON.parse(body.slice(body.indexOf('\n'))).resourceSpans);
  return {
    env: { OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}` },
    bodies,
    resources: () => resources().map(({ resource }) => attributesOf(resource)),
    spans: (): Span[] =>
      resources()
        .flatMap(({ scopeSpans }) => scopeSpans)
        .flatMap(({ spans }) => spans)
        .map((span) => ({ ...span, attributes: attributesOf(span) })),
  };
}

interface Attributed {
  readonly attributes: readonly { readonly key: string; readonly value: Readonly<Record<string, unknown>> }[];
}

/** OTLP's JSON names the type of each value. */
const attributesOf = ({ attributes }: Attributed) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
