import { isDeepStrictEqual } from 'node:util';
import type { Result } from '@behest/protocol/enforcement/result';
import { partTexts } from '@behest/protocol/json-parts';
import { Value } from 'typebox/value';
import { EnforceRequest, isInexact, mayBeInexact } from '../enforcement/index.ts';
import { Evaluation, type EvaluationRequest, type EvaluationResponse } from './authzen.schema.ts';

/** The subject of a question, by which the service finds a grant or a token. */
export type Subject =
  | { readonly by: 'token'; readonly id: string; readonly shown: string | undefined }
  | { readonly by: 'grant'; readonly id: string }
  | {
      readonly by: 'identity';
      readonly id: string;
      readonly tokenId: string;
      readonly agentId: unknown;
    };

/** A question in the words of the engine. */
export interface ReadQuestion {
  /** Undefined where it names nothing that has authority. */
  readonly subject: Subject | undefined;
  readonly call: EnforceRequest;
}

/** The part of the enforcing point that questions are read with. */
export interface Serving {
  /** The connectors of a resource; none for any. */
  readonly connectors: readonly string[];
  /** Stands for the `call_id` of a question that is sent again after a lost answer. */
  readonly repeatId: string | undefined;
}

type Members = Readonly<Record<string, unknown>>;

/** @returns the fault of a malformed question, in a sentence */
export function faultOf(asked: EvaluationRequest): string | undefined {
  if (Value.Check(Evaluation, asked)) return undefined;
  const [first] = Value.Errors(Evaluation, asked);
  return `The evaluation is malformed at \`${first?.instancePath || '/'}\`: ${first?.message ?? 'it has another shape'}.`;
}

/** @param evaluation without a fault @returns undefined where a member of the context has another type */
export function readQuestion(evaluation: Evaluation, serving: Serving): ReadQuestion | undefined {
  const { action, resource } = evaluation;
  const context: Members = { ...evaluation.context };
  const place = placeOf(evaluation, serving);
  const given = argumentsOf(action.properties, context);
  const subject = place && given.agree ? subjectOf(evaluation, context) : undefined;
  const isCheck = context.check_only === true || subject?.by === 'grant';
  const call = {
    grantToken: subject?.by === 'token' && subject.shown !== undefined ? subject.shown : 'not-shown',
    connector: place?.connector ?? resource.id,
    tool: place?.tool ?? action.name,
    reserve: !isCheck,
    ...defined({
      ...Object.fromEntries(Object.entries(OF_CONTEXT).map(([name, shown]) => [name, context[shown]])),
      arguments: given.arguments,
      resource: Object(resource.properties).resource,
      callId: context.call_id ?? serving.repeatId,
    }),
  };
  return Value.Check(EnforceRequest, call) ? { subject, call } : undefined;
}

/** The connector and the tool that a question is about. */
function placeOf({ action, resource }: Evaluation, { connectors }: Serving) {
  if (resource.type === 'connector') return { connector: resource.id, tool: action.name };
  if (resource.type !== 'tool' || action.name !== 'tools/call') return undefined;
  const named =
    Object(resource.properties).connector ?? (connectors.length === 1 ? connectors[0] : undefined);
  return typeof named === 'string' && named !== '' ? { connector: named, tool: resource.id } : undefined;
}

/** Two places may have the arguments, and then they have to say the same. */
function argumentsOf(properties: unknown, context: Members) {
  const { arguments: ofAction } = Object(properties);
  const { arguments: ofContext } = context;
  const agree = ofAction === undefined || ofContext === undefined || isDeepStrictEqual(ofAction, ofContext);
  return { agree, arguments: ofAction ?? ofContext };
}

function subjectOf({ subject }: Evaluation, { jti, agent }: Members): Subject | undefined {
  const { type, id, properties } = subject;
  if (type === 'grant') return { by: 'grant', id };
  if (type === 'identity')
    return typeof jti === 'string' ? { by: 'identity', id, tokenId: jti, agentId: agent } : undefined;
  if (type !== 'token') return undefined;
  const { token } = Object(properties);
  if (token !== undefined && typeof token !== 'string') return undefined;
  return { by: 'token', id, shown: token };
}

const defined = (members: Members): Members =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));

/** The answer of the engine in the words of AuthZEN. */
export function toDecision(
  result: Result,
  call: EnforceRequest,
  keyThumbprint: string | undefined,
): EvaluationResponse {
  const { allowed, call_id, grant_id, would_deny, warnings } = result;
  const about = { call_id, grant_id };
  const more = { ...(would_deny && { would_deny }), ...(warnings.length > 0 && { warnings }) };
  if (!allowed) {
    const { reason_code, sub_reason, reason, details } = result;
    return { decision: false, context: { reason_code, sub_reason, reason, details, ...about, ...more } };
  }
  const { reservation, decision } = result;
  return {
    decision: true,
    context: {
      ...about,
      ...(call.reserve === false && { check_only: true }),
      ...(reservation && { reservation }),
      ...(decision && { decision }),
      ...more,
      ...(keyThumbprint !== undefined && { cnf: { jkt: keyThumbprint } }),
    },
  };
}

/** The members of a call that stand in `context` under names of its own. */
const OF_CONTEXT = {
  amount: 'amount',
  caseId: 'case_id',
  caseVersion: 'case_version',
  costComponents: 'cost_components',
  callId: 'call_id',
  decisionGrants: 'decision_grants',
} as const;

/** The places in a question that the engine reads. AuthZEN has the members beside them ignored. */
const JUDGED = [
  ['action', 'properties', 'arguments'],
  ['resource', 'properties', 'resource'],
  ['context', 'arguments'],
  ...Object.values(OF_CONTEXT).map((name) => ['context', name] as const),
] as const;

type Texts = ReadonlyMap<string, string>;

/**
 * Finds the questions of a body that are judged by a number that two readers could take for different ones.
 * @param text the body as it was sent
 * @returns tells it of an evaluation by its index, or without an index of the body itself
 */
export function inexactQuestions(text: string): (index?: number) => boolean {
  if (!mayBeInexact(text)) return () => false;
  const partsOf = remembered(partTexts);
  const isInexactPart = remembered((part) => isInexact(`{"part":${part}}`));
  const textAt = (texts: Texts, [first = '', ...names]: readonly string[]) =>
    names.reduce((found, name) => found && partsOf(found).get(name), texts.get(first));
  const shared = partTexts(text);
  const evaluations = partTexts(shared.get('evaluations') ?? '');
  return (index) => {
    const own = index === undefined ? undefined : evaluations.get(String(index));
    const texts = own === undefined ? shared : new Map([...shared, ...partTexts(own)]);
    return JUDGED.some((place) => {
      const part = textAt(texts, place);
      return part !== undefined && isInexactPart(part);
    });
  };
}

/** A batch shares its defaults, which are then read once. */
function remembered<Answer>(read: (text: string) => Answer): (text: string) => Answer {
  const answers = new Map<string, Answer>();
  return (text) => {
    const answer = answers.get(text) ?? read(text);
    answers.set(text, answer);
    return answer;
  };
}
