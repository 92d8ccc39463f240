import { parseJson } from '@behest/protocol/json';
import fc from 'fast-check';
import { Value } from 'typebox/value';
import type { Shape } from '../../src/platform/http/routes/taken-shapes.ts';
import { demandedBy, Known, valueLike } from './values.ts';

/** An object somewhere in a value that a schema accepts. */
export interface Found {
  /** The whole value. */
  readonly value: unknown;
  /** The path of the object in the value. */
  readonly path: readonly string[];
  readonly shape: Shape;
}

const TRIES = 50; // tries of 20 values, most of which have the right shape

/** A value that the schema accepts. It is the same at each call. */
export function exampleOf(schema: Shape): unknown {
  const asSent = { ...schema, ...(schema.required && { required: demandedBy(schema) }) };
  for (let seed = 1; seed <= TRIES; seed += 1) {
    const made = fc.sample(valueLike(schema), { numRuns: 20, seed }).map(withoutKnown);
    const good = made.findIndex((value) => Value.Check(asSent, value) && isSendable(value));
    if (good >= 0) return made[good];
  }
  throw new Error(`The generator makes no value of ${JSON.stringify(schema)}.`);
}

/** Some of the fuzzer's texts are valid in no JSON. */
function isSendable(value: unknown): boolean {
  try {
    parseJson(Buffer.from(JSON.stringify(value)));
    return true;
  } catch {
    return false;
  }
}

function withoutKnown(value: unknown): unknown {
  if (value instanceof Known) return '01K9Z3QW5M8T2V4X6Y7Z8A9B0C';
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(withoutKnown);
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, withoutKnown(each)]));
}

/** Every object that the schema describes, each in a whole value. */
export function objectsIn(schema: Shape): Found[] {
  const { type, anyOf, items = {}, properties = {}, additionalProperties: others } = schema;
  if (anyOf) return anyOf.flatMap(objectsIn);
  if (type === 'array') {
    return objectsIn(items).map((found) => ({
      ...found,
      value: Array(Math.max(1, schema.minItems ?? 1)).fill(found.value),
      path: ['0', ...found.path],
    }));
  }
  if (type !== 'object') return [];
  const own = exampleOf(schema);
  const members: [name: string, shape: Shape][] = Object.entries(properties);
  if (typeof others === 'object') members.push([String(exampleOf(schema.propertyNames ?? {})), others]);
  const within = members.flatMap(([name, shape]) =>
    objectsIn(shape).map((found) => ({
      ...found,
      value: { ...Object(own), [name]: found.value },
      path: [name, ...found.path],
    })),
  );
  return [{ value: own, path: [], shape: schema }, ...within];
}

const NAMES = ['isAdmin', '__proto__'];
const ODD_NAMES = ['', ' ', 'é', 'x'.repeat(2_000)];

/** Members that an object of this shape does not have, and the words of their refusal. */
export function strangersTo({ additionalProperties: others, propertyNames }: Shape) {
  if (others === false) return NAMES.map((name) => ({ name, value: 1, problem: /^unknown$/ }));
  if (typeof others !== 'object' || !propertyNames) return [];
  const odd = ODD_NAMES.filter((name) => !Value.Check(propertyNames, name));
  return odd.map((name) => ({ name, value: exampleOf(others), problem: /^(format|too_short|too_long)$/ }));
}

/** The whole value with an extra member in that object. */
export function withMember(
  { value, path }: Pick<Found, 'value' | 'path'>,
  name: string,
  member: unknown,
): unknown {
  const [first, ...rest] = path;
  const entries = Object.entries(Object(value)).map(([key, each]) =>
    key === first ? [key, withMember({ value: each, path: rest }, name, member)] : [key, each],
  );
  if (Array.isArray(value)) return entries.map(([, each]) => each);
  return Object.fromEntries(first === undefined ? [...entries, [name, member]] : entries);
}
