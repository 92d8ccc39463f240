import { Id, Time } from '@behest/protocol/shapes';
import type { FastifyInstance, FastifyReply, FastifyRequest, RouteHandlerMethod } from 'fastify';
import { type Static, Type } from 'typebox';
import {
  type Caller,
  type KeptRequest,
  type Loosening,
  type NeededFor,
  NeedsSecondMember,
} from '../caller.ts';
import type { Tx } from '../db/db.ts';

declare module 'fastify' {
  interface FastifyContextConfig {
    /** The request may weaken what is enforced, and then wait for a second member where the account wants that. */
    mayLoosen?: true;
  }
}

/** The answer to a request that waits for a second member. */
export const ProposedChange = Type.Object(
  {
    changeId: Id,
    status: Type.Literal('open'),
    about: Type.String({ description: 'What would change.' }),
    expiresAt: Time,
  },
  { description: 'Nothing has changed. A second member of the account has to agree.' },
);

/** Keeps a request that waits for a second member. */
export type Propose = (
  request: FastifyRequest,
  kept: KeptRequest,
  loosening: Loosening,
) => Promise<Static<typeof ProposedChange>>;

/** The operation of a kept request. */
export interface KeptOperation extends NeededFor {
  /** Does it as the caller, in the transaction. */
  run(request: FastifyRequest, kept: KeptRequest, as: Doing): Promise<void>;
}

interface Doing {
  readonly caller: Caller;
  readonly tx: Tx;
}

declare module 'fastify' {
  interface FastifyInstance {
    keptOperations: ReadonlyMap<string, KeptOperation>;
  }
}

/**
 * Answers requests that have to wait for a second member with what is kept of them. Add it before the idempotency, so that
 * the same transaction keeps the request and the answer.
 */
export function addProposals(app: FastifyInstance, propose: Propose | undefined): void {
  const operations = new Map<string, KeptOperation>();
  app.decorate('keptOperations', operations);
  app.addHook('onRoute', (route) => {
    const { config, handler, schema } = route;
    const operation = schema?.operationId;
    if (!config?.mayLoosen || operation === undefined) return;
    route.schema = { ...schema, response: { ...Object(schema?.response), 202: ProposedChange } };
    operations.set(operation, {
      capabilitiesFor: (body) => [config.capability, config.capabilityFor?.(body)],
      run: (request, kept, as) => run(app, handler, { request, kept, as }),
    });
    route.handler = async function waitForSecond(request, reply) {
      try {
        return await handler.call(this, request, reply);
      } catch (error) {
        if (!(error instanceof NeedsSecondMember) || !propose) throw error;
        const kept = { operation, params: request.params, body: request.body };
        return reply.code(202).send(await propose(request, kept, error.loosening));
      }
    };
  });
}

interface Run {
  readonly request: FastifyRequest;
  readonly kept: KeptRequest;
  readonly as: Doing;
}

/** Calls the handler of a route for a kept request, in the name of who agrees to it. */
async function run(
  app: FastifyInstance,
  handler: RouteHandlerMethod,
  { request, kept: { params, body }, as }: Run,
): Promise<void> {
  const caller = request.caller && { ...request.caller, caller: as.caller };
  const asked: FastifyRequest = Object.create(request, {
    params: { value: params },
    body: { value: body },
    caller: { value: caller },
    repeatable: { value: { open: { tx: as.tx } } }, // where handlers take their transaction from
  });
  const reply = { code: () => reply, header: () => reply, send: () => reply };
  // The handlers of these routes set a status and send one answer, which nobody gets here.
  await handler.call(app, asked, reply as unknown as FastifyReply);
}
