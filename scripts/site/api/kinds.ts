import type { Schema } from '../../generate/sdk/type-text.ts';

interface Limited extends Schema {
  readonly format?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}

/** The kind of a value in words: `text or null`. */
export function kindOf(schema: Limited): string {
  const { type, enum: values, anyOf, oneOf, items, format } = schema;
  if (schema.const !== undefined) return `\`${JSON.stringify(schema.const)}\``;
  if (values) return values.map((value) => `\`${escaped(String(value))}\``).join(', ');
  const choices = anyOf ?? oneOf;
  if (choices) return [...new Set(choices.map(kindOf))].join(' or ');
  if (type === 'array') return `list of ${items ? kindOf(items) : 'values'}`;
  if (Array.isArray(type)) return type.join(' or ');
  return format === 'date-time' ? 'time' : String(type ?? 'any value');
}

const escaped = (text: string) => text.replaceAll('|', String.raw`\|`);

/** The default of a value and its limits. */
export function limitsOf(schema: Limited): string[] {
  const { default: fallback } = schema;
  const some = Object.assign({}, ...(schema.anyOf ?? []), schema) as Limited;
  return [
    fallback === undefined ? '' : `default \`${JSON.stringify(fallback)}\``,
    rangeOf(some.minLength, some.maxLength, 'characters'),
    rangeOf(some.minItems, some.maxItems, 'entries'),
    rangeOf(some.minimum, some.maximum, ''),
  ];
}

function rangeOf(least: number | undefined, most: number | undefined, unit: string): string {
  const after = unit && ` ${unit}`;
  if (most === undefined) return least ? `at least ${least}${after}` : '';
  return least ? `${least} to ${most}${after}` : `at most ${most}${after}`;
}

/** The object that a value is, or holds: in a list, or beside null. */
export function objectIn(schema: Schema): { readonly object: Schema | undefined; readonly suffix: string } {
  const choices = (schema.anyOf ?? schema.oneOf)?.filter(({ type }) => type !== 'null') ?? [];
  const [only] = choices;
  if (choices.length === 1 && only) return objectIn(only);
  if (schema.type !== 'array' || !schema.items) return { object: schema.properties && schema, suffix: '' };
  const { object, suffix } = objectIn(schema.items);
  return { object, suffix: `[]${suffix}` };
}
