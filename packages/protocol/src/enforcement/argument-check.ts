import { type ArgumentsRefusal, checkCopied, newSteps } from '../arguments/check.ts';
import type { ArgumentsCause } from '../arguments/read-arguments.ts';
import { refusalInWords } from '../arguments/refusal-words.ts';
import type { Rules } from '../arguments/rules.ts';
import { deny } from './deny.ts';
import type { GivenArguments } from './given-arguments.ts';
import type { RequestedCall } from './grant-checks.ts';
import type { Denial } from './reasons.ts';

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
