import type { Tracer } from '../telemetry/tracer.ts';
import type { Egress } from './egress.ts';

/** Makes a span for each call, without the address, because addresses hold secrets of their developers. */
export function tracedEgress(egress: Egress, tracer: Tracer): Egress {
  return {
    ...egress,
    send(request) {
      const attributes = { 'http.request.method': request.method };
      return tracer.call({ name: `http ${request.method}`, attributes }, () => egress.send(request));
    },
  };
}
