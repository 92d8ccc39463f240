import type { RuleFaultCode } from '../arguments/rules.ts';
import { BehestError } from '../behest-error.ts';

/** The stable name of a fault in a manifest. */
export type ManifestFaultCode =
  | RuleFaultCode
  | 'unparseable'
  | 'duplicate_key'
  | 'missing_key'
  | 'invalid_name'
  | 'reserved_name'
  | 'invalid_permission'
  | 'invalid_purpose_pattern'
  | 'invalid_unit'
  | 'invalid_decision_name'
  | 'invalid_pin'
  | 'invalid_text'
  | 'invalid_language'
  | 'decision_on_read'
  | 'four_eyes_without_decision'
  | 'binds_without_decision';

const sentences: Readonly<Record<ManifestFaultCode, string>> = {
  unparseable: 'the text cannot be read',
  duplicate_key: 'the key is repeated',
  wrong_type: 'the value has a wrong type',
  missing_key: 'the key is missing',
  unknown_key: 'the key is not known',
  empty: 'the value is empty',
  too_many: 'the value has too many parts',
  duplicate_item: 'the item is repeated',
  invalid_name: 'the name is malformed',
  reserved_name: 'the name is reserved',
  invalid_permission: 'the permission is not read, write, delete or admin',
  invalid_purpose_pattern: 'the purpose pattern is malformed',
  invalid_count: 'the count is not an integer from 0 to 2147483647',
  invalid_unit: 'the name of the cost unit is malformed',
  invalid_decision_name: 'the name of the decision is malformed',
  invalid_pointer: 'the pointer is malformed',
  invalid_rule: 'the value is outside the form of its key',
  rule_conflict: 'the keys of the rule cannot stand together',
  invalid_pin: 'the pin is malformed',
  invalid_text: 'the text is empty or too long, or has characters that are not seen',
  invalid_language: 'the language tag is malformed',
  decision_on_read: 'a read tool cannot require a decision',
  four_eyes_without_decision: 'four_eyes_on needs requires_decision',
  binds_without_decision: 'binds needs requires_decision',
};

/** The error of a manifest that does not load: its first fault. */
export class ManifestValidationError extends BehestError {
  override readonly name: string = 'ManifestValidationError';
  declare readonly code: ManifestFaultCode;
  /** The place of the fault, such as `tools.transfer.caps.per_hour`; empty for the top level. */
  readonly path: string;
  /** The connector, once it is known. */
  readonly connector: string | undefined;

  constructor(code: ManifestFaultCode, path: string, connector?: string) {
    super(code, `Manifest error at ${path === '' ? 'top level' : path}: ${sentences[code]} (${code})`);
    this.path = path;
    this.connector = connector;
  }
}
