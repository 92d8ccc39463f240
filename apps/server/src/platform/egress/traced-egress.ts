import type { Tracer } from '../telemetry/tracer.ts';
import type { Egress } from './egress.ts';

/** A span for each call; whom it is to is in none, since addresses hold secrets of those who named them. */
export function tracedEgress(egress: Egress, tracer: Tracer): Egress {
  return {
    ...egress,
    send(request) {
      const attributes = { 'http.request.method': request.method };
      return tracer.call({ name: `http ${request.method}`, attributes }, () => egress.send(request));
    },
  };
}
