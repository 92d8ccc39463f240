import { english } from '../english.ts';
import type { ArgumentsRefusal } from './check.ts';
import { conditionInWords } from './in-words.ts';
import { readPointer } from './pointers.ts';
import type { Rules } from './rules.ts';
import { cut, visible } from './text.ts';

const MAX_NAME = 64;
const words = english.refusals;

/**
 * Says in one sentence why the arguments of a call were refused. The sentence has no argument's value; a name that
 * comes from the call is cut, and its invisible characters are shown.
 *
 * @param scope the document whose rules refused
 */
export function refusalInWords(
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
