import type { IncomingMessage, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Finished } from '../../finished.ts';
import { timesSent } from '../callers/credentials.ts';
import { requestIdOf } from '../request-path.ts';
import type { AnsweredIn } from '../telemetry.ts';
import { standardHeaders } from './headers.ts';

/** An answer that is the same for every client. */
export interface ReadyAnswer {
  readonly document: Finished;
  /** Headers that depend on the document, with its type. The headers of every answer stand beside them. */
  readonly headers: Readonly<Record<string, string>>;
}

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The answer to a plain request, sent before the steps that other requests take. For unlimited routes alone. */
    ready?: () => ReadyAnswer;
  }
}

export interface ReadyOptions {
  readonly report: (answer: AnsweredIn) => void;
  readonly isProduction: boolean;
  readonly isStopping: () => boolean;
}

/** The head in names and values, and the body with a character for each byte: Node writes both in one piece then. */
interface Pieces {
  readonly head: readonly string[];
  readonly body: string;
}

/** Headers on which the answer may depend. A request that has one takes the usual way. */
const TELLING = ['if-none-match', 'expect', 'upgrade', 'content-length', 'transfer-encoding', 'origin'];
const MAX_HEADERS = 40; // names and values

/**
 * Answers plain requests for ready documents as the usual way would, at a third of its cost. Verifiers ask for the keys
 * more often than for anything else. Add it before the routes.
 */
export function addReadyAnswers(app: FastifyInstance, options: ReadyOptions): void {
  const { report, isStopping } = options;
  const standard = standardHeaders(options.isProduction);
  const ready = new Map<string, () => ReadyAnswer>();
  const pieces = new WeakMap<Finished, Pieces>();

  app.addHook('onRoute', ({ url, config }) => {
    if (!config?.ready) return;
    if (config.rate !== 'unlimited' || config.access !== 'none') {
      throw new Error(`${url} has a ready answer, and is not for everybody without limit.`);
    }
    ready.set(url, config.ready);
  });

  const piecesOf = ({ document, headers }: ReadyAnswer): Pieces => {
    const known = pieces.get(document);
    if (known) return known;
    const bytes = Buffer.from(document.body);
    const all = { ...standard, ...headers, etag: document.etag, 'content-length': String(bytes.length) };
    const made = { head: Object.entries(all).flat(), body: bytes.toString('latin1') };
    pieces.set(document, made);
    return made;
  };

  const answer = (request: IncomingMessage, response: ServerResponse): boolean => {
    const { url: route = '', method = '' } = request;
    const answerOf = ready.get(route);
    if (!answerOf || !isPlain(request) || isStopping()) return false;
    const startedAt = performance.now();
    const reqId = requestIdOf(request);
    const { head, body } = piecesOf(answerOf());
    response.writeHead(200, [...head, 'x-request-id', reqId]).end(body, 'latin1');
    report({ reqId, method, route, status: 200, milliseconds: performance.now() - startedAt });
    return true;
  };

  app.addHook('onReady', async () => {
    for (const serve of app.server.listeners('request')) {
      app.server.removeListener('request', serve as () => void);
      app.server.on('request', (request, response) => {
        if (!answer(request, response)) serve.call(app.server, request, response);
      });
    }
  });
}

function isPlain(request: IncomingMessage): boolean {
  const { method, headers, rawHeaders, httpVersion } = request;
  if (method !== 'GET' || httpVersion !== '1.1' || rawHeaders.length > MAX_HEADERS) return false;
  return timesSent(request, 'host') === 1 && TELLING.every((name) => headers[name] === undefined);
}
