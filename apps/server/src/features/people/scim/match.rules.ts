import { type Bound, comparable, type Test } from './bind.rules.ts';

/** Whether a resource, or a value of one of its attributes, passes a filter. */
export function matches(bound: Bound | undefined, json: unknown): boolean {
  switch (bound?.kind) {
    case undefined:
      return true;
    case 'and':
      return matches(bound.left, json) && matches(bound.right, json);
    case 'or':
      return matches(bound.left, json) || matches(bound.right, json);
    case 'not':
      return !matches(bound.filter, json);
    case 'any': {
      const values = at(json, bound.path);
      return Array.isArray(values) && values.some((value) => matches(bound.filter, value));
    }
    case 'constant':
      return bound.passes;
    case 'test':
      return passes(bound, at(json, bound.path));
  }
}

/** The member that the names lead to. Nothing is inherited. */
export function at(json: unknown, path: readonly string[]): unknown {
  let found: unknown = json;
  for (const name of path) {
    if (typeof found !== 'object' || found === null || !Object.hasOwn(found, name)) return undefined;
    found = Reflect.get(found, name);
  }
  return found;
}

function passes({ attribute, op, folded: other }: Test, found: unknown): boolean {
  const isPresent = found !== undefined && found !== null && found !== '';
  if (op === 'pr') return isPresent;
  if (op === 'absent') return !isPresent;
  if (found === undefined || found === null) return op === 'ne';
  const one = comparable(attribute, found);
  switch (op) {
    case 'eq':
      return one === other;
    case 'ne':
      return one !== other;
    case 'co':
      return String(one).includes(String(other));
    case 'sw':
      return String(one).startsWith(String(other));
    case 'ew':
      return String(one).endsWith(String(other));
    case 'gt':
      return one > other;
    case 'ge':
      return one >= other;
    case 'lt':
      return one < other;
    case 'le':
      return one <= other;
  }
}
