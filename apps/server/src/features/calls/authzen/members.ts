import { partTexts } from '@behest/protocol/json-parts';
import { isInexact, mayBeInexact } from '../enforcement/index.ts';

/** The members of a call that stand in `context` under names of its own. */
export const OF_CONTEXT = {
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
