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

/** A value that a rule can name. Numbers are integers within ±(2^53−1). */
export type RuleValue = string | number | boolean | null;

/** The type of an argument. `decimal` is a string such as `"500.00"`. */
export type ArgumentType = 'string' | 'number' | 'integer' | 'decimal' | 'boolean' | 'array' | 'object';

/** The limits of one argument. An empty rule allows any value. */
export interface Rule {
  readonly type?: ArgumentType;
  readonly in?: readonly RuleValue[];
  /** A decimal as it was written. */
  readonly min?: string;
  readonly max?: string;
  /** The least and the most code points. */
  readonly length?: readonly [number, number];
  readonly prefix?: readonly string[];
  readonly suffix?: readonly string[];
  readonly email?: readonly string[];
  readonly host?: readonly string[];
  readonly path?: readonly string[];
  readonly url?: readonly string[];
  readonly cidr?: readonly string[];
  /** The least and the most elements. */
  readonly items?: readonly [number, number];
  readonly contains?: readonly RuleValue[];
  /** The rules of every element. */
  readonly each?: Rules;
  readonly optional?: true;
  readonly absent?: true;
  readonly open?: true;
}

/** The rules of one tool, by JSON Pointer (RFC 6901). An argument that no pointer names is refused. */
export type Rules = Readonly<Record<string, Rule>>;
