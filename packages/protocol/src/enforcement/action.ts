import { bytesOf, copyObject } from '../arguments/copy-json.ts';
import { isObject } from '../arguments/rule-faults.ts';
import { canonicalJson, sha256Uri } from '../canonical-json.ts';
import { isWord } from '../manifest/tool-reading.ts';

/** The exact call that a decision allows. `arguments` is the whole object that will be sent. */
export interface Action {
  readonly v: 1;
  readonly connector: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly case_id: string | null;
  readonly case_version: string | null;
  /** `arguments.decision` when it is a word, else null. */
  readonly decision: string | null;
}

/** The most bytes of an action in canonical form, and its most levels. */
const BOUNDS = { levels: 64, bytes: 65_536, takesNul: true, takesLarge: false };

/** The members of a call that an action binds. */
export interface ActionParts {
  readonly connector: string;
  readonly tool: string;
  readonly arguments: unknown;
  readonly caseId: string | null;
  readonly caseVersion: string | null;
}

/**
 * Makes the action of a call. Nothing is left out, defaulted or normalised.
 *
 * @returns undefined when the arguments are no object of I-JSON (RFC 7493), or the action is too deep or too large
 */
export function actionOf({
  arguments: args,
  caseId,
  caseVersion,
  ...names
}: ActionParts): Action | undefined {
  const copied = copyObject({ arguments: args }, BOUNDS);
  const own = copied.ok ? copied.value.arguments : undefined;
  if (!isObject(own)) return undefined;
  const decision = Object.hasOwn(own, 'decision') ? own.decision : undefined;
  const action: Action = {
    v: 1,
    ...names,
    arguments: own,
    case_id: caseId,
    case_version: caseVersion,
    decision: typeof decision === 'string' && isWord(decision) ? decision : null,
  };
  return bytesOf(canonicalJson(action)) <= BOUNDS.bytes ? action : undefined;
}

/** The hash by which decision grants name an action: `sha256:` and 43 characters. */
export async function actionHash(action: Action): Promise<string> {
  return sha256Uri(canonicalJson(action));
}
