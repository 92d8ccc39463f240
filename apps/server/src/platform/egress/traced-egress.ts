import type { Tracer } from '../telemetry/tracer.ts';
import type { Egress } from './egress.ts';

/** Makes a span for each call, without the address, because addresses hold secrets of their developers. */
export function tracedEgress(egress: Egress, tracer: Tracer): Egress {
  const traced = <Answer>({ method }: { readonly method: string }, call: () => Promise<Answer>) =>
    tracer.call({ name: `http ${method}`, attributes: { 'http.request.method': method } }, call);
  return {
    ...egress,
    send: (request) => traced(request, () => egress.send(request)),
    ask: (request) => traced(request, () => egress.ask(request)),
    pass: (request) => traced(request, () => egress.pass(request)),
  };
}
