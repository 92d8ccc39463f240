import { namesResource } from '@behest/protocol/resource-uri';
import { refused } from '@behest/protocol/token-refusal';
import { concerning } from '../../../platform/acts.ts';
import type { Caller } from '../../../platform/caller.ts';
import { AppError } from '../../../platform/errors.ts';
import {
  type CallFacts,
  type ChargedCall,
  type EnforcementDeps,
  enforceCall,
  findFacts,
  findGrantFacts,
  findStoredFacts,
  giveBack,
  meterOfAgent,
  UNKNOWN_TOKEN,
  unreadable,
} from '../enforcement/index.ts';
import type {
  Evaluation,
  EvaluationRequest,
  EvaluationResponse,
  EvaluationsRequest,
  EvaluationsResponse,
} from './authzen.schema.ts';
import {
  faultOf,
  inexactQuestions,
  type ReadQuestion,
  readQuestion,
  type Subject,
  toDecision,
} from './question.ts';

export interface AuthzenDeps extends EnforcementDeps {
  readonly issuer: string;
}

/** The party that asks, and that enforces the answer. */
export interface EnforcingPoint {
  readonly caller: Caller;
  /** A resource asks only about the tokens and the connectors that are its own. */
  readonly server: { readonly resource: string; readonly connectors: readonly string[] } | null;
  /** The body as it was sent, for the digits that a parsed number lost. */
  readonly text: string;
  /** Names a request that may be sent again. */
  readonly repeatId: string | undefined;
  /** Counts evaluations beside the first, all or none. @throws RATE_LIMITED */
  readonly chargeMore: (times: number) => Promise<void>;
}

/**
 * Answers whether a call may happen now.
 * @see OpenID AuthZEN Authorization API 1.0
 * @throws BAD_REQUEST for a malformed question, SERVICE_UNAVAILABLE
 */
export async function evaluate(
  deps: AuthzenDeps,
  point: EnforcingPoint,
  asked: EvaluationRequest,
): Promise<EvaluationResponse> {
  const fault = faultOf(asked);
  if (fault !== undefined) throw new AppError('BAD_REQUEST', fault);
  const isInexact = inexactQuestions(point.text)();
  return (await rule(deps, { ...point, isInexact }, asked as Evaluation)).decision; // `faultOf` has checked the shape
}

/** The point, at one question. */
interface EvaluationPoint extends EnforcingPoint {
  /** Two readers could take a number of the question for different ones. */
  readonly isInexact: boolean;
}

/**
 * Answers several questions, one after the other: each is charged, then recorded. Where the first denial ends the batch, and
 * where the batch fails, it gives back the units that it has taken before. A process that dies leaves what it has recorded,
 * and at most the units of one question more.
 * @throws BAD_REQUEST, RATE_LIMITED before any question is answered, SERVICE_UNAVAILABLE
 */
export async function evaluateTogether(
  deps: AuthzenDeps,
  point: EnforcingPoint,
  { evaluations = [], options, ...shared }: EvaluationsRequest,
): Promise<EvaluationResponse | EvaluationsResponse> {
  if (evaluations.length === 0) return evaluate(deps, point, shared);
  if (evaluations.length > 1) await point.chargeMore(evaluations.length - 1);
  const semantic = options?.evaluations_semantic ?? 'execute_all';
  const { subject, action, resource, context } = shared;
  const isInexactAt = inexactQuestions(point.text);
  const answers: Ruled[] = [];
  try {
    for (const [index, own] of evaluations.entries()) {
      const repeatId = point.repeatId && `${point.repeatId}.${index}`;
      const answer = await ruleOrFault(
        deps,
        { ...point, repeatId, isInexact: isInexactAt(index) },
        isObject(own) ? { subject, action, resource, context, ...own } : undefined,
      );
      answers.push(answer);
      const { decision } = answer.decision;
      if (semantic === 'deny_on_first_deny' && !decision) {
        await takeBack(deps, point, { answers });
        break;
      }
      if (semantic === 'permit_on_first_permit' && decision) break;
    }
  } catch (error) {
    await takeBack(deps, point, { answers, isLost: deps.db.isTransaction });
    throw error;
  }
  return { evaluations: answers.map(({ decision }) => decision) };
}

interface Ruled {
  readonly decision: EvaluationResponse;
  /** The call whose units are held, if any are. */
  readonly held?: ChargedCall;
}

/** A malformed question of a batch is answered as such, and the others go on. */
async function ruleOrFault(
  deps: AuthzenDeps,
  point: EvaluationPoint,
  asked: EvaluationRequest | undefined,
): Promise<Ruled> {
  const message = asked ? faultOf(asked) : 'The evaluation is no object.';
  if (message === undefined) {
    try {
      return await rule(deps, point, asked as Evaluation); // `faultOf` has checked the shape
    } catch (error) {
      if (!(error instanceof AppError) || error.code !== 'BAD_REQUEST') throw error;
      return faulty(error.message);
    }
  }
  return faulty(message);
}

const isObject = (value: unknown): value is EvaluationRequest =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const faulty = (message: string): Ruled => ({
  decision: { decision: false, context: { error: { status: 400, message } } },
});

async function rule(deps: AuthzenDeps, point: EvaluationPoint, evaluation: Evaluation): Promise<Ruled> {
  const { caller, server } = point;
  const serving = { connectors: server?.connectors ?? [], repeatId: point.repeatId };
  const question = readQuestion(evaluation, serving);
  if (!question) throw new AppError('BAD_REQUEST', 'A member of the context has another type.');
  let facts: CallFacts = UNKNOWN_TOKEN;
  const find = async () => {
    facts = within(point, question, await factsFor(deps, caller, question));
    return facts;
  };
  const pep = server ? caller.actor.replace('resource:', '') : 'key';
  const marks = { via: 'authzen', pep } as const;
  const input = point.isInexact ? unreadable(question.call) : question.call;
  const result = await enforceCall(deps, caller, { input, text: '', find, marks });
  const decision = toDecision(result, question.call, facts.row?.keyThumbprint ?? undefined);
  const callId = result.reservation?.id ?? undefined;
  const { row } = facts;
  if (!result.allowed || callId === undefined || !row) return { decision };
  const about = concerning({ ...row, grantId: row.id });
  return { decision, held: { callId, agentId: row.agentId, about } };
}

function factsFor(deps: AuthzenDeps, caller: Caller, { subject, call }: ReadQuestion): Promise<CallFacts> {
  const { connector } = call;
  if (!subject) return Promise.resolve(UNKNOWN_TOKEN);
  if (subject.by === 'grant') return findGrantFacts(deps, caller, { grantId: subject.id, connector });
  if (subject.by === 'identity') return factsOfIdentity(deps, caller, { subject, connector });
  if (subject.shown === undefined) {
    return findStoredFacts(deps, caller, { tokenId: subject.id, connector });
  }
  return factsOfShown(deps, caller, { tokenId: subject.id, call });
}

/** A token that is shown has to be the one that is named. A foreign token is like an unknown one. */
async function factsOfShown(
  deps: AuthzenDeps,
  caller: Caller,
  { tokenId, call }: { readonly tokenId: string; readonly call: ReadQuestion['call'] },
): Promise<CallFacts> {
  const facts = await findFacts(deps, caller, call);
  if (!facts.token.ok) return facts.token.reason === 'developer_mismatch' ? UNKNOWN_TOKEN : facts;
  return facts.token.claims.tokenId === tokenId ? facts : UNKNOWN_TOKEN;
}

type Identity = Extract<Subject, { readonly by: 'identity' }>;

async function factsOfIdentity(
  deps: AuthzenDeps,
  caller: Caller,
  { subject, connector }: { readonly subject: Identity; readonly connector: string },
): Promise<CallFacts> {
  const { id, tokenId, agentId } = subject;
  const facts = await findStoredFacts(deps, caller, { tokenId, connector });
  const isOwn = facts.row?.principalId === id && (agentId === undefined || facts.row.agentId === agentId);
  return isOwn ? facts : UNKNOWN_TOKEN;
}

/** A resource learns nothing about tokens and connectors that are not its own. */
function within({ server }: EnforcingPoint, { call }: ReadQuestion, facts: CallFacts): CallFacts {
  if (!server || !facts.row) return facts;
  const audiences = facts.row.audience?.split(' ') ?? [];
  if (!namesResource(audiences, server.resource))
    return { token: refused('audience_mismatch'), status: 'active' };
  const isServed = server.connectors.length === 0 || server.connectors.includes(call.connector);
  if (isServed) return facts;
  const { manifest: _, ...others } = facts;
  return others;
}

/**
 * A failed transaction has lost the entries of its calls, and then only the meter is asked. A failure leaves units charged
 * for a call that nobody was allowed, never the reverse.
 */
async function takeBack(
  deps: AuthzenDeps,
  { caller }: EnforcingPoint,
  { answers, isLost = false }: { readonly answers: readonly Ruled[]; readonly isLost?: boolean },
) {
  for (const { held } of answers) {
    if (held === undefined) continue;
    const { callId, agentId } = held;
    const freeing = isLost
      ? meterOfAgent(deps.meter, agentId).refundUnsent(caller.tenant.developerId, callId)
      : giveBack(deps, caller, held);
    await freeing.catch((err: unknown) => {
      deps.logger?.warn({ err }, 'the units of a batch that was denied stay charged');
    });
  }
}
