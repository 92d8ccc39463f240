import { checkArguments } from '@behest/protocol/arguments/check';
import { type Branch, type Place, placesOf } from '@behest/protocol/arguments/places';
import { pointerToken } from '@behest/protocol/arguments/pointers';
import type { Rules } from '@behest/protocol/arguments/rules';
import { isRecord } from '../config/user-file.ts';
import type { Definition } from './definitions.ts';

/** A fault of a tool's rules beside the definition of the tool. */
export interface RuleFault {
  readonly rule: 'argument_not_in_schema' | 'required_argument_unlisted' | 'default_outside_rule';
  /** A pointer of the rules, or two with `each` between them. */
  readonly pointer: string;
  readonly message: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** One place of the rules, with the schema of its value. */
interface Position {
  /** The rules that are in force here: those of the tool, or those of an `each`. */
  readonly rules: Rules;
  readonly place: Place;
  /** From the beginning of the rules that are in force here. */
  readonly pointer: string;
  /** The part of the path before them. */
  readonly before: string;
  readonly schema: Schema | undefined;
  /** The schema that local references lead into. */
  readonly root: Schema;
}

/** Compares the rules of a tool with the input schema that its server declares. */
export function ruleFaults(rules: Rules, { inputSchema }: Definition): RuleFault[] {
  if (!isRecord(inputSchema)) return [];
  const root = inputSchema;
  return faultsAt({
    ...{ rules, root, pointer: '', before: '' },
    place: placesOf(rules),
    schema: known(root, root),
  });
}

function faultsAt(position: Position): RuleFault[] {
  const { place, schema } = position;
  if (!schema) return [];
  return place.kind === 'branch'
    ? faultsOfBranch(position, place, schema)
    : faultsOfElements(position, place.rule.each, schema);
}

function faultsOfBranch(position: Position, place: Branch, schema: Schema): RuleFault[] {
  const { before, pointer, root, rules } = position;
  const properties = isRecord(schema.properties) ? schema.properties : {};
  const required = namesIn(schema.required);
  const unlisted = required.filter((name) => isNeverThere(place, name));
  return [
    ...unlisted.map((name) => ({
      rule: 'required_argument_unlisted' as const,
      pointer: `${before}${pointer}`,
      message: `the tool requires "${name}", which the rules do not allow, so every call is refused`,
    })),
    ...[...place.below].flatMap(([name, below]): RuleFault[] => {
      const at = `${pointer}${pointerToken(name)}`;
      if (!Object.hasOwn(properties, name)) {
        if (takesMore(schema)) return [];
        const message = 'the input schema of the tool has no such argument';
        return [{ rule: 'argument_not_in_schema', pointer: `${before}${at}`, message }];
      }
      const member = known(properties[name], root);
      const next = { ...{ rules, root, before }, place: below, pointer: at, schema: member };
      return [...(required.includes(name) ? [] : defaultFaults(next)), ...faultsAt(next)];
    }),
  ];
}

/** An optional argument may be left out, and the tool then uses its default, which the rule never sees. */
function defaultFaults({ rules, place, pointer, before, schema }: Position): RuleFault[] {
  const isForbidden = place.kind === 'leaf' && place.rule.absent === true;
  if (!schema || !place.mayBeMissing || isForbidden || !Object.hasOwn(schema, 'default')) return [];
  const below = Object.entries(rules)
    .filter(([each]) => each === pointer || each.startsWith(`${pointer}/`))
    .map(([each, { optional: _, ...rule }]) => [
      `/value${each.slice(pointer.length)}`,
      each === pointer ? rule : (rules[each] ?? {}),
    ]);
  const result = checkArguments(Object.fromEntries(below), { value: schema.default });
  if (result.ok) return [];
  const message = `the tool uses ${JSON.stringify(schema.default)} where the argument is left out, and the rule refuses that`;
  return [{ rule: 'default_outside_rule', pointer: `${before}${pointer}`, message }];
}

function faultsOfElements(position: Position, each: Rules | undefined, schema: Schema): RuleFault[] {
  if (!each) return [];
  const { before, pointer, root } = position;
  return faultsAt({
    ...{ rules: each, root, pointer: '', before: `${before}${pointer}.each.` },
    ...{ place: placesOf(each), schema: known(schema.items, root) },
  });
}

/** Whether a member that the tool requires is refused wherever it is there. */
function isNeverThere({ isOpen, below }: Branch, name: string): boolean {
  const place = below.get(name);
  if (!place) return !isOpen;
  return place.kind === 'leaf' && place.rule.absent === true;
}

const namesIn = (value: unknown): string[] =>
  Array.isArray(value) ? value.filter((name) => typeof name === 'string') : [];

/** Whether a schema that says so takes members that it does not name. Most are silent, and mean what they name. */
const takesMore = ({ additionalProperties, patternProperties }: Schema) =>
  additionalProperties === true || isRecord(additionalProperties) || isRecord(patternProperties);

/** Words of JSON Schema that name members elsewhere. A schema that has one is not judged. */
const COMPOSED = ['$dynamicRef', 'allOf', 'anyOf', 'dependentSchemas', 'if', 'not', 'oneOf'];
const MAX_REFERENCES = 16;

/** The schema behind local references. @returns undefined for one that cannot be read member by member */
function known(value: unknown, root: Schema, left = MAX_REFERENCES): Schema | undefined {
  if (!isRecord(value) || left === 0 || COMPOSED.some((word) => Object.hasOwn(value, word))) return undefined;
  if (!Object.hasOwn(value, '$ref')) return value;
  const { $ref } = value;
  if (typeof $ref !== 'string' || !/^#(\/|$)/.test($ref)) return undefined;
  const names = $ref.split('/').slice(1);
  const target = names.reduce<unknown>((at, name) => {
    const key = decoded(name);
    return isRecord(at) && Object.hasOwn(at, key) ? at[key] : undefined;
  }, root);
  return known(target, root, left - 1);
}

/** @see RFC 6901, section 6 */
function decoded(name: string): string {
  const text = /%(?![0-9a-f]{2})/i.test(name) ? name : decodeURIComponent(name);
  return text.replaceAll('~1', '/').replaceAll('~0', '~');
}
