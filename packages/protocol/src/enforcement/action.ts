import { bytesOf, copyObject } from '../arguments/copy-json.ts';
import { pointerToken, readPointer } from '../arguments/pointers.ts';
import { isObject } from '../arguments/rules.ts';
import { canonicalJson, sha256Uri } from '../canonical-json.ts';
import { isWord } from '../manifest/tool-reading.ts';

/**
 * The exact call that a decision allows. In version 1 `arguments` is the whole object that will be sent. In version 2 it is
 * the part that the manifest binds, and `manifest` is the manifest that says so.
 */
export interface Action {
  readonly v: 1 | 2;
  readonly connector: string;
  readonly tool: string;
  /** The hash of the manifest: 64 digits of lower-case hex, in version 2 alone. */
  readonly manifest?: string;
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
  /** Absent where a decision binds every argument. */
  readonly binding?: Binding | undefined;
}

/** The arguments that a decision about a tool binds, and the hash of the manifest that says so. */
export interface Binding {
  readonly binds: readonly string[];
  readonly sha256: string;
}

/**
 * Makes the action of a call. Nothing is left out, defaulted or normalised.
 *
 * @returns undefined when the arguments are no object of I-JSON (RFC 7493), or the action is too deep or too large
 */
export function actionOf({
  connector,
  tool,
  arguments: args,
  caseId,
  caseVersion,
  binding,
}: ActionParts): Action | undefined {
  const copied = copyObject({ arguments: args }, BOUNDS);
  const own = copied.ok ? copied.value.arguments : undefined;
  if (!isObject(own)) return undefined;
  const decision = Object.hasOwn(own, 'decision') ? own.decision : undefined;
  const action: Action = {
    v: binding ? 2 : 1,
    connector,
    tool,
    ...(binding && { manifest: binding.sha256 }),
    arguments: binding ? boundArguments(own, binding.binds) : own,
    case_id: caseId,
    case_version: caseVersion,
    decision: typeof decision === 'string' && isWord(decision) ? decision : null,
  };
  return bytesOf(canonicalJson(action)) <= BOUNDS.bytes ? action : undefined;
}

/** A word of two people is bound in any case, because the number of approvals follows from it. */
const ALWAYS = ['decision'];

function pathsOf(binds: readonly string[]): string[][] {
  const paths = binds.map((pointer) => {
    const read = readPointer(pointer);
    if (!read.ok) throw new TypeError('A pointer to a bound argument is malformed.');
    return [...read.names];
  });
  return [ALWAYS, ...paths];
}

/**
 * The part of the arguments that a decision binds. Where a pointer meets an array or another value that has no members,
 * that value is bound whole, so a call does not escape by another shape. Taking the part of a part changes nothing.
 */
export function boundArguments(
  args: Readonly<Record<string, unknown>>,
  binds: readonly string[],
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(boundMembers(args, pathsOf(binds)));
}

function boundMembers(value: Readonly<Record<string, unknown>>, paths: readonly string[][]) {
  return Object.entries(value).flatMap(([name, member]): [string, unknown][] => {
    const below = pathsBelow(paths, name);
    if (below.length === 0) return [];
    const isWhole = !isObject(member) || below.some(({ length }) => length === 0);
    return [[name, isWhole ? member : Object.fromEntries(boundMembers(member, below))]];
  });
}

const pathsBelow = (paths: readonly string[][], name: string): string[][] =>
  paths.filter(([first]) => first === name).map(([, ...rest]) => rest);

/** One part of the arguments, and whether a decision binds it. */
export interface ArgumentPart {
  readonly path: string;
  readonly binds: boolean;
}

/** The arguments in parts that are bound whole or not at all, in their order; none is left out. */
export function argumentParts(
  args: Readonly<Record<string, unknown>>,
  binds?: readonly string[],
): ArgumentPart[] {
  if (!binds) return Object.keys(args).map((name) => ({ path: pointerToken(name), binds: true }));
  return partsBelow(args, { paths: pathsOf(binds), at: '' });
}

interface Walk {
  readonly paths: readonly string[][];
  readonly at: string;
}

function partsBelow(value: Readonly<Record<string, unknown>>, { paths, at }: Walk): ArgumentPart[] {
  return Object.entries(value).flatMap(([name, member]): ArgumentPart[] => {
    const path = `${at}${pointerToken(name)}`;
    const below = pathsBelow(paths, name);
    if (below.length === 0) return [{ path, binds: false }];
    const isWhole = !isObject(member) || below.some(({ length }) => length === 0);
    if (isWhole || Object.keys(member).length === 0) return [{ path, binds: true }];
    return partsBelow(member, { paths: below, at: path });
  });
}

/** The hash by which decision grants name an action: `sha256:` and 43 characters. */
export async function actionHash(action: Action): Promise<string> {
  return sha256Uri(canonicalJson(action));
}
