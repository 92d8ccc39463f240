import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { AppError } from '../errors.ts';
import type { CountUse, Metered } from '../quotas.ts';
import type { NoteRefusal, Refusal } from '../refusals.ts';
import { type Identity, tenantOf } from './callers/credentials.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Every success of the route is counted for its developer, but for a repeated answer. */
    metered?: Metered;
    /** Says which answers are counted, where a 2xx says nothing about this service. */
    meteredIf?: (reply: FastifyReply) => boolean;
  }
}

/** Add it after idempotency, which commits before the answer is sent, and before the routes. */
export function addMetering(app: FastifyInstance, countUse: CountUse): void {
  app.addHook('onRoute', (route) => {
    const { metered: kind, meteredIf = isSuccess } = route.config ?? {};
    if (!kind) return;
    route.onSend = [
      ...[route.onSend ?? []].flat(),
      (request, reply, _payload, done) => {
        const isRepeated = reply.hasHeader('idempotency-replayed');
        if (meteredIf(reply) && !isRepeated) countUse(tenantOf(request), kind);
        done();
      },
    ];
  });
}

const isSuccess = ({ statusCode }: FastifyReply): boolean => statusCode >= 200 && statusCode < 300;

declare module 'fastify' {
  interface FastifyRequest {
    /** The identity of the key that was shown, also where the request is refused before it has a caller. */
    keyHolder: Identity | null;
    refusal: AppError | null;
  }
}

/** Add it before the request path and the routes. */
export function addRefusals(app: FastifyInstance, note: NoteRefusal): void {
  app.decorateRequest('keyHolder', null);
  app.decorateRequest('refusal', null);

  const noteRefused = (request: FastifyRequest, reply: FastifyReply, _payload: unknown, done: () => void) => {
    const { keyHolder } = request;
    if (reply.statusCode >= 400 && keyHolder) note(keyHolder.tenant, refusalOf(request, reply));
    done();
  };
  app.addHook('onRoute', (route) => {
    if (route.config?.access !== 'developer') return;
    const before = [route.onSend ?? []].flat();
    // Fastify makes the route of HEAD of that of GET, with its hooks.
    if (!before.includes(noteRefused)) route.onSend = [...before, noteRefused];
  });
}

function refusalOf(request: FastifyRequest, reply: FastifyReply): Refusal {
  const { refusal, method, pattern: route, id: requestId } = request;
  return {
    requestId,
    operationId: request.routeOptions.schema?.operationId ?? 'unknown',
    method,
    route,
    status: reply.statusCode,
    code: refusal?.code ?? 'INTERNAL_ERROR',
    subReason: subReasonIn(refusal?.details),
    agentId: agentIn(request.body) ?? agentIn(request.params) ?? null,
    keyId: request.keyHolder?.keyId ?? null,
    durationMs: Math.round(reply.elapsedTime),
  };
}

const LONGEST_REASON = 64; // characters

/** The members of `details` that name a reason; the words are the service's own. */
function subReasonIn(details: unknown): string | null {
  const { sub_reason: subReason, reason } = Object(details);
  const found: unknown = subReason ?? reason;
  return typeof found === 'string' ? found.slice(0, LONGEST_REASON) : null;
}

/** Only a text in the form of an agent's id is kept, because anything else may be a misplaced secret. */
function agentIn(sent: unknown): string | undefined {
  const { agentId, id } = Object(sent);
  return [agentId, id].find((each) => typeof each === 'string' && /^ag_[0-9A-HJKMNP-TV-Z]{26}$/.test(each));
}
