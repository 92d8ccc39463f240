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

export interface SpanIds {
  readonly traceId: string;
  readonly spanId: string;
}
