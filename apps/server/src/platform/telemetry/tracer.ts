/**
 * What of the service's work is timed, piece by piece, as a tree: requests and jobs are roots, and what they ask of
 * others is below them. Names and attributes are words of the source, or of a statement's text; never a value that
 * came with a request. Where nothing is traced there is no tracer, and nobody is wrapped.
 */
export interface Tracer {
  /** @param traceparent as the client sent it (W3C Trace Context, section 3.2); what is malformed begins a new trace. */
  beginRequest(traceparent: string | undefined): RequestSpan;
  /** A piece of work with nothing above it. */
  root<T>(name: string, work: () => Promise<T>): Promise<T>;
  /** A question to another server. Outside of any request and job it is only asked. */
  call<T>(call: Call, ask: () => Promise<T>): Promise<T>;
  /** A question that has just been answered, or failed, after so many milliseconds. */
  called(call: Call, milliseconds: number, failure?: { readonly error: unknown }): void;
  /** The ids of the span that is under way. */
  ids(): SpanIds | undefined;
}

export interface RequestSpan {
  /** Whatever this begins is below the request. */
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
