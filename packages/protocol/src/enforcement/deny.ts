import type { Denial, Details, ReasonCode, SubReasons } from './reasons.ts';
import { sentenceFor } from './sentences.ts';

/** Makes a denial. The compiler refuses a sub-reason that the code does not have. */
export function deny<Code extends ReasonCode>(
  reason_code: Code,
  sub_reason: SubReasons[Code],
  details: Details = {},
  reason = sentenceFor(reason_code, sub_reason),
): Denial {
  // The parameters agree with each other; TypeScript does not follow that through the union.
  return { reason_code, sub_reason, details, reason } as Denial;
}
