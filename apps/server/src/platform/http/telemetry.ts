import type { FastifyInstance, FastifyReply, FastifyRequest, RouteOptions } from 'fastify';
import { type Logger, requestLines } from '../telemetry/logger.ts';
import { METHODS, type Meter } from '../telemetry/meter.ts';
import type { RequestSpan, SpanAttributes, Tracer } from '../telemetry/tracing.ts';

/** An answer that is over, after so many milliseconds. */
export interface AnsweredIn {
  readonly reqId: string;
  readonly method: string;
  readonly route: string;
  readonly status: number;
  readonly milliseconds: number;
}

/** Logs, counts and times an answer. @param logger without one there are no lines */
export function answerReport(meter: Meter, logger?: Logger): (answer: AnsweredIn) => void {
  const log = logger && requestLines(logger);
  return ({ reqId, method, route, status, milliseconds }) => {
    log?.({ reqId, method, route, status, responseTime: Math.round(milliseconds * 1000) / 1000 });
    meter.requestAnswered({ method, route, status, seconds: milliseconds / 1000 });
  };
}

/**
 * Reports each answer when it is over, by its route's pattern: paths hold ids, some hold secrets, and a label that holds
 * ids would grow for ever. A live stream counts as answered when its answer begins: its end says nothing about the
 * service, and Fastify does not report an end that the client causes.
 * @see docs/operations.md, Logs, for the names
 */
export function addRequestReport(app: FastifyInstance, reportAnswer: ReturnType<typeof answerReport>): void {
  const report = (
    request: FastifyRequest,
    { statusCode: status, elapsedTime: milliseconds }: FastifyReply,
  ) => {
    const { id: reqId, method, pattern: route } = request;
    reportAnswer({ reqId, method, route, status, milliseconds });
  };
  const atBeginning = (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void) => {
    report(request, reply);
    done();
  };
  app.addHook('onRoute', (route: RouteOptions) => {
    const before = [route.onSend ?? []].flat();
    // Fastify makes the route of HEAD of that of GET, with its hooks.
    if (route.config?.isLive && !before.includes(atBeginning)) route.onSend = [...before, atBeginning];
  });
  app.addHook('onResponse', (request, reply, done) => {
    if (!request.declared.isLive) report(request, reply);
    done();
  });
}

/**
 * A span for each request, named for its route's pattern, without path, query, headers, bodies and addresses.
 * Add it before the other hooks, so that their work and their lines are below it.
 */
export function addRequestTrace(app: FastifyInstance, tracer: Tracer): void {
  const spans = new WeakMap<FastifyRequest, RequestSpan>();
  app.addHook('onRequest', (request, _reply, done) => {
    const { traceparent } = request.headers;
    const span = tracer.beginRequest(traceparent?.toString());
    spans.set(request, span);
    span.within(done);
  });
  // The ends of a body and of an answer are events of the socket: both begin outside of the span.
  app.addHook('preValidation', (request, _reply, done) => {
    const span = spans.get(request);
    if (!span) return done(); // refused before any hook
    span.within(done);
  });
  const end = (request: FastifyRequest, statusCode: number) => {
    const { name, attributes } = factsOf(request);
    const all = { ...attributes, 'http.response.status_code': statusCode };
    spans.get(request)?.end(name, all, statusCode >= 500);
  };
  // A live stream counts as answered when its answer begins, as in the log.
  app.addHook('onSend', (request, { statusCode }, _payload, done) => {
    if (request.declared.isLive) end(request, statusCode);
    done();
  });
  app.addHook('onResponse', (request, { statusCode }, done) => {
    const span = spans.get(request);
    if (!span) return done();
    if (!request.declared.isLive) end(request, statusCode);
    span.within(done);
  });
}

function factsOf(request: FastifyRequest): { readonly name: string; readonly attributes: SpanAttributes } {
  const method = METHODS.has(request.method) ? request.method : '_OTHER';
  const route = request.pattern;
  const attributes = { 'http.request.method': method, 'behest.request_id': request.id };
  const verb = method === '_OTHER' ? 'HTTP' : method;
  if (route === 'unknown') return { name: verb, attributes };
  return { name: `${verb} ${route}`, attributes: { ...attributes, 'http.route': route } };
}
