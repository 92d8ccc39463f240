import { type ArgumentsRefusal, checkCopied, newSteps } from '../arguments/check.ts';
import { type CopiedObject, copyObject } from '../arguments/copy-json.ts';
import { conditionInWords } from '../arguments/in-words.ts';
import { readPointer } from '../arguments/pointers.ts';
import { type ArgumentsCause, copyArguments } from '../arguments/read-arguments.ts';
import type { Rules } from '../arguments/rules.ts';
import { cut, visible } from '../arguments/text.ts';
import { english } from '../english.ts';
import type { RequestedCall } from './grant-checks.ts';
import { type Denial, deny } from './reasons.ts';

const MAX_NAME = 64;
const words = english.refusals;

/**
 * Says in one sentence why the arguments of a call were refused. The sentence has no argument's value; a name that
 * comes from the call is cut, and its invisible characters are shown.
 *
 * @param scope the document whose rules refused
 */
function refusalInWords(
  refusal: ArgumentsRefusal,
  scope: 'manifest' | 'grant',
  rules: Rules | undefined,
): string {
  if (refusal.subReason === 'argument_unreadable') return words.unreadable(words.causes[refusal.cause]);
  const path = nameOf(refusal.path);
  if (refusal.subReason === 'argument_missing') {
    return path === '' ? words.noneGiven[scope] : words.missing[scope](path);
  }
  if (refusal.rule === 'unlisted' || refusal.rule === 'absent' || !rules) return words.unlisted[scope](path);
  return words.notAllowed[scope](path, conditionInWords(refusal.rule, refusal.limit));
}

function nameOf(path: string): string {
  const read = readPointer(path);
  const names = read.ok ? read.names : path.split('/').slice(1);
  return names.map((name) => visible(cut(name, MAX_NAME))).join(english.rules.nameJoiner);
}

/** The widest bounds of all checks, because an action may nest its arguments deeper than rules may. */
const BOUNDS = { levels: 63, bytes: 65_536, takesNul: true, takesLarge: false };

/**
 * The arguments of one call. They are copied before the engine first waits, so that the holder of the object cannot
 * change it between two checks. A call that never waits costs no copy here.
 */
export class GivenArguments {
  readonly #given: unknown;
  #held: CopiedObject | undefined;

  constructor(given: unknown) {
    this.#given = given;
  }

  /** False when the caller gave none, which is not the same as `{}`. */
  get areGiven(): boolean {
    return this.#given !== undefined;
  }

  /** Copies the arguments now. */
  hold(): void {
    if (this.areGiven) this.#held ??= copyObject(this.#given, BOUNDS);
  }

  /** Waits for an answer over a copy. */
  over<Answer>(waiting: Promise<Answer>): Promise<Answer> {
    this.hold();
    return waiting;
  }

  /** The arguments as rules take them. */
  forRules(): CopiedObject {
    if (!this.#held) return copyArguments(this.#given);
    return this.#held.ok ? copyArguments(this.#held.value) : this.#held;
  }

  /** The arguments as an action takes them; undefined when there are none that it could take. */
  forAction(): unknown {
    this.hold();
    return this.#held?.ok ? this.#held.value : undefined;
  }
}

type Scope = 'manifest' | 'grant';

/** Check 11a: the rules of the manifest, then those of the grant. */
export function checkArgumentRules(
  { declared, entry, tool }: RequestedCall,
  args: GivenArguments,
): Denial | undefined {
  const [ours, theirs] = [declared.arguments, entry?.arguments?.get(tool)];
  if (!ours && !theirs) return undefined;
  const first: Scope = ours ? 'manifest' : 'grant';
  if (!args.areGiven) {
    return argumentDenial({ ok: false, subReason: 'argument_missing', path: '' }, first, ours ?? theirs);
  }
  const copied = args.forRules();
  if (!copied.ok) return unreadable(copied.cause);
  const steps = newSteps();
  for (const [scope, rules] of [
    ['manifest', ours],
    ['grant', theirs],
  ] as const) {
    const result = rules && checkCopied(rules, copied.value, steps);
    if (result && !result.ok) return argumentDenial(result, scope, rules);
  }
  return undefined;
}

function unreadable(cause: ArgumentsCause): Denial {
  return argumentDenial({ ok: false, subReason: 'argument_unreadable', cause }, 'manifest', undefined);
}

function argumentDenial(refusal: ArgumentsRefusal, scope: Scope, rules: Rules | undefined): Denial {
  const reason = refusalInWords(refusal, scope, rules);
  const { ok: _ok, subReason, ...facts } = refusal;
  const details = subReason === 'argument_unreadable' ? facts : { scope, ...facts };
  return deny('tool_not_granted', subReason, details, reason);
}
