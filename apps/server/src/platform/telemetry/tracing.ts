import { AsyncLocalStorage } from 'node:async_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { ExportResultCode, parseTraceParent } from '@opentelemetry/core';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import {
  defaultResource,
  detectResources,
  resourceAttributesEnvDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';
import { BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import { VERSION } from '../version.ts';

const LONGEST_FLUSH = 5000; // milliseconds; a collector that hangs does not hold up a stop

export interface TracingOptions {
  /** The collector's address, without the path for spans. */
  readonly endpoint: string;
  readonly serviceName: string;
  /** Called once each time spans cannot be sent, and with undefined when they can again. */
  readonly onTrouble: (error?: Error) => void;
}

export interface Tracing {
  readonly tracer: Tracer;
  /** Sends the remaining spans, or gives them up. */
  flush(): Promise<void>;
}

/**
 * The only file that knows OpenTelemetry. Only a process that makes traces imports it. The service makes
 * spans where it hands work on itself: it patches no library, so none has to be loaded after this.
 */
export function openTracing({ endpoint, serviceName, onTrouble }: TracingOptions): Tracing {
  const report = onceEach(onTrouble);
  const exporter = reporting(new OTLPTraceExporter({ url: tracesUrl(endpoint) }), report);
  const provider = new TracerProvider({
    resource: defaultResource()
      .merge(detectResources({ detectors: [serviceInstanceIdDetector, resourceAttributesEnvDetector] }))
      .merge(resourceFromAttributes({ 'service.name': serviceName, 'service.version': VERSION })),
    spanProcessors: [new BatchSpanProcessor({ exporter })],
  });
  return {
    tracer: tracerOf(provider),
    async flush() {
      const sent = provider.shutdown().then(
        () => true,
        () => true, // `onTrouble` was called
      );
      const late = delay(LONGEST_FLUSH, false);
      if (await Promise.race([sent, late])) return;
      report(new Error(`The collector has not taken them in ${LONGEST_FLUSH} ms.`));
    },
  };
}

function tracesUrl(endpoint: string): string {
  const url = new URL(endpoint);
  url.pathname = `${url.pathname.replace(/\/$/, '')}/v1/traces`;
  return url.href;
}

function tracerOf(provider: TracerProvider): Tracer {
  const spans = provider.getTracer('behest', VERSION);
  const underWay = new AsyncLocalStorage<Span>();

  /** Does the work below the span, which ends with it. */
  async function timed<T>(span: Span, work: () => Promise<T>): Promise<T> {
    try {
      return await underWay.run(span, work);
    } catch (error) {
      failed(span, errorTypeOf(error));
      throw error;
    } finally {
      span.end();
    }
  }

  /** Begins a span below the current one, if there is one. @param startTime in epoch milliseconds, or now */
  function begin({ name, attributes }: Call, startTime?: number): Span | undefined {
    const parent = underWay.getStore();
    if (!parent) return undefined;
    const above = trace.setSpan(ROOT_CONTEXT, parent);
    const options = { kind: SpanKind.CLIENT, attributes, ...(startTime !== undefined && { startTime }) };
    return spans.startSpan(name, options, above);
  }

  return {
    beginRequest(traceparent) {
      const remote = traceparent === undefined ? null : parseTraceParent(traceparent);
      // The client's own `tracestate` is not continued: it is any text, and serves nobody here.
      const above = remote ? trace.setSpanContext(ROOT_CONTEXT, { ...remote, isRemote: true }) : ROOT_CONTEXT;
      const span = spans.startSpan('request', { kind: SpanKind.SERVER }, above);
      return {
        within: (work) => underWay.run(span, work),
        end(name, attributes, hasFailed) {
          span.updateName(name).setAttributes(attributes);
          if (hasFailed) failed(span, String(attributes['http.response.status_code']));
          span.end();
        },
      };
    },
    root: (name, work) => timed(spans.startSpan(name, {}, ROOT_CONTEXT), work),
    call(call, ask) {
      const span = begin(call);
      return span ? timed(span, ask) : ask();
    },
    called(call, milliseconds, failure) {
      const now = performance.timeOrigin + performance.now();
      const span = begin(call, now - milliseconds);
      if (span && failure) failed(span, errorTypeOf(failure.error));
      span?.end(now);
    },
    ids() {
      const context = underWay.getStore()?.spanContext();
      return context && { traceId: context.traceId, spanId: context.spanId };
    },
  };
}

/** Without the error's own text, which may quote a value. */
function failed(span: Span, errorType: string): void {
  span.setAttribute('error.type', errorType).setStatus({ code: SpanStatusCode.ERROR });
}

function errorTypeOf(error: unknown): string {
  if (!(error instanceof Error)) return '_OTHER';
  return 'code' in error ? String(error.code) : error.name;
}

type Report = TracingOptions['onTrouble'];

function onceEach(onTrouble: Report): Report {
  let isAway = false;
  return (error) => {
    if ((error !== undefined) !== isAway) onTrouble(error);
    isAway = error !== undefined;
  };
}

function reporting(exporter: SpanExporter, report: Report): SpanExporter {
  return {
    export(batch, done) {
      exporter.export(batch, (result) => {
        const isSent = result.code === ExportResultCode.SUCCESS;
        report(isSent ? undefined : (result.error ?? new Error('The collector refused them.')));
        done(result);
      });
    },
    shutdown: () => exporter.shutdown(),
  };
}

/**
 * Times the service's work as a tree: requests and jobs are roots, and their calls to other servers are below
 * them. Names and attributes are words of the source, or of a statement's text, and never values that came
 * with a request. Without tracing there is no tracer, and nothing is wrapped.
 */
export interface Tracer {
  /**
   * @param traceparent as the client sent it (W3C Trace Context, section 3.2). A malformed value begins a new
   *   trace.
   */
  beginRequest(traceparent: string | undefined): RequestSpan;
  /** A piece of work with nothing above it. */
  root<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** A call to another server. Outside of any request and job it makes no span. */
  call<T>(call: Call, ask: () => Promise<T>): Promise<T>;
  /** A call that has just been answered, or failed, after so many milliseconds. */
  called(call: Call, milliseconds: number, failure?: { readonly error: unknown }): void;
  /** The ids of the current span. */
  ids(): SpanIds | undefined;
}

export interface RequestSpan {
  /** Calls that this work makes are below the request. */
  within(work: () => void): void;
  end(name: string, attributes: SpanAttributes, hasFailed: boolean): void;
}

export interface Call {
  readonly name: string;
  readonly attributes: SpanAttributes;
}

/** By the names of OpenTelemetry's semantic conventions. */
export type SpanAttributes = Readonly<Record<string, string | number>>;

interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}
