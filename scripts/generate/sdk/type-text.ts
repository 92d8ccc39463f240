/** A JSON Schema, as far as the description of the service uses the language. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly description?: string;
  readonly additionalProperties?: boolean | Schema;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
}

export interface TypeOptions {
  /** True for a value that a program sends, where a member with a default may be left out. */
  readonly isInput: boolean;
  /** The name of a type that is declared for this text. */
  nameFor(text: string): string | undefined;
}

const PLAIN: Readonly<Record<string, string>> = {
  string: 'string',
  number: 'number',
  integer: 'number',
  boolean: 'boolean',
  null: 'null',
};

/** Writes a schema as a TypeScript type. Limits of lengths and patterns are the service's to check. */
export function typeText(schema: Schema, options: TypeOptions): string {
  const text = plainText(schema, options);
  return options.nameFor(text) ?? text;
}

/** As `typeText`, but the outermost type is written out even when it has a name. */
export function plainText(schema: Schema, options: TypeOptions): string {
  const { type, enum: values, anyOf, oneOf, allOf, items } = schema;
  if (schema.const !== undefined) return JSON.stringify(schema.const);
  if (values) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (anyOf ?? oneOf) return union((anyOf ?? oneOf ?? []).map((each) => typeText(each, options)));
  if (allOf) return allOf.map((each) => `(${typeText(each, options)})`).join(' & ');
  if (typeof type !== 'string') return type ? union(type.map((each) => PLAIN[each] ?? 'unknown')) : 'unknown';
  if (type === 'array') return arrayText(items ? typeText(items, options) : 'unknown', options);
  return type === 'object' ? objectText(schema, options) : (PLAIN[type] ?? 'unknown');
}

const union = (texts: readonly string[]) => [...new Set(texts)].join(' | ');

function arrayText(item: string, { isInput }: TypeOptions): string {
  const isUnion = /^(?! ).*[|&]/m.test(item); // the inside of braces is indented
  const grouped = isUnion || item.startsWith('readonly ') ? `(${item})` : item;
  return `${isInput ? 'readonly ' : ''}${grouped}[]`;
}

function objectText(schema: Schema, options: TypeOptions): string {
  const { properties = {}, required = [], additionalProperties, patternProperties } = schema;
  const entries = Object.entries(properties);
  const [others] = Object.values(patternProperties ?? {});
  const rest = others ?? (typeof additionalProperties === 'object' ? additionalProperties : {});
  if (entries.length === 0) return `{ readonly [name: string]: ${typeText(rest, options)} }`;
  const members = entries.map(([name, member]) => {
    const isSure = required.includes(name) && !(options.isInput && member.default !== undefined);
    const comment = member.description ? `/** ${withoutEnd(member.description)} */ ` : '';
    const absent = options.isInput && !isSure ? ' | undefined' : '';
    const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
    return `${comment}${options.isInput ? 'readonly ' : ''}${key}${isSure ? '' : '?'}: ${typeText(member, options)}${absent};`;
  });
  // Members beyond those that are named: a resource of SCIM, or what a browser adds to the answer of a passkey.
  if (additionalProperties === true)
    members.push(`${options.isInput ? 'readonly ' : ''}[member: string]: unknown;`);
  return `{\n${members.map(indented).join('\n')}\n}`;
}

const indented = (text: string) => text.replaceAll(/^/gm, '  ');

/** A comment that the text of a description cannot end. */
export const withoutEnd = (text: string) => text.replaceAll('*/', '*\u200b/').replaceAll('\n', ' ');
