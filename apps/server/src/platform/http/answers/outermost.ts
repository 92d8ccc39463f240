import { randomUUID } from 'node:crypto';
import type { Socket } from 'node:net';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { AppError, notFound } from '../../errors.ts';
import { addressIn } from '../callers/client-address.ts';
import { addressCharges } from '../limits/bills.ts';
import type { RateLimits } from '../limits/rate-rules.ts';
import type { ChargeRates } from '../limits/rates.ts';
import { errorBody, isScimPath, SCIM_TYPE, scimErrorBody } from './error-handler.ts';
import { standardHeaders } from './headers.ts';
import { languageFor, pageAnswer, prefersHtml, strayPage } from './plain-page.ts';

interface Asker {
  readonly requestId: string;
  readonly address: string;
  readonly url?: string;
  /** Of the page for a browser. */
  readonly language?: string | undefined;
}

/**
 * Answers requests that are refused before any hook runs: these answers look like, and count as, all others.
 */
export function outermostAnswers(charge: ChargeRates, limits: RateLimits, isProduction: boolean) {
  const answer = async (error: AppError, { requestId, address, url = '', language }: Asker) => {
    const { rateStatus } = await charge([addressCharges(address, limits)]);
    const refusal = rateStatus?.refusal ?? error;
    const isScim = isScimPath(url);
    const headers = {
      ...standardHeaders(isProduction),
      'x-request-id': requestId,
      'content-type': isScim ? SCIM_TYPE : 'application/json; charset=utf-8',
      ...rateStatus?.headers,
    };
    if (language !== undefined && !isScim) {
      const page = pageAnswer(strayPage(refusal, requestId), language);
      return { status: refusal.status, headers: { ...headers, ...page.headers }, body: page.body };
    }
    return {
      status: refusal.status,
      headers: { ...headers, vary: 'Accept' },
      body: JSON.stringify(isScim ? scimErrorBody(refusal) : errorBody(refusal, requestId)),
    };
  };

  return {
    /** For a path that cannot be decoded, or whose id is longer than any. It leads nowhere. */
    frameworkErrors: async (_error: Error, request: FastifyRequest, reply: FastifyReply) => {
      const { status, headers, body } = await answer(notFound(), {
        requestId: request.id,
        address: request.ip,
        url: request.url,
        language: prefersHtml(request) ? languageFor(request) : undefined,
      });
      reply.code(status).headers(headers).send(body);
    },
    /** For bytes that are no HTTP, or headers that never end. */
    clientErrorHandler: async (error: NodeJS.ErrnoException, socket: Socket) => {
      if (error.code === 'ECONNRESET' || !socket.writable) return socket.destroy();
      const refusal = new AppError('BAD_REQUEST', 'This is not an acceptable HTTP request.');
      const { status, headers, body } = await answer(refusal, {
        requestId: randomUUID(),
        address: addressIn(socket.remoteAddress ?? '') ?? '',
      });
      if (!socket.writable) return; // the request, of which only the body is bad, was answered meanwhile
      const framed = { ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' };
      const lines = Object.entries(framed).map(([name, value]) => `${name}: ${value}`);
      socket.end([`HTTP/1.1 ${status} Refused`, ...lines, '', body].join('\r\n'));
    },
  };
}

/**
 * Only one expectation means anything: `100-continue`, which Node meets. For any other, Node would answer 417
 * by itself, without the headers of every answer. The service answers such a request as if it had no
 * expectation.
 * @see RFC 9110, section 10.1.1, which leaves this to the server
 */
export function ignoreExpectations({ server }: FastifyInstance): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
}
