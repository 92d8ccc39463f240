/** The fault of a rule. The same codes stand in `ManifestValidationError`. */
export type RuleFaultCode =
  | 'wrong_type'
  | 'empty'
  | 'unknown_key'
  | 'too_many'
  | 'duplicate_item'
  | 'invalid_count'
  | 'invalid_pointer'
  | 'invalid_rule'
  | 'rule_conflict';

/** The first fault of a set of rules. */
export interface RuleFault {
  readonly code: RuleFaultCode;
  /** The pointer, then keys after dots, such as `/amount.max` or `/to.each./address.email[1]`. */
  readonly path: string;
}

/** The most items of a list, and the most code points of a text. */
export const [MAX_ITEMS, MAX_TEXT] = [100, 512];

/** Tells whether a value is an object of JSON. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
