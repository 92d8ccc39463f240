import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

type Node = Readonly<Record<string, unknown>>;
/** A member with a default may be left out of what is sent, and is in each answer. */
type Side = 'input' | 'answer';

const PLACE = '#/components/schemas/';

/** Copies schemas of routes for the description. Those that have a name become components. */
export class Components {
  readonly #nameOf: NameOf;
  readonly #schemas = new Map<string, { readonly text: string; readonly copy: Node }>();

  /** @param others schemas that are no constant of the service, by their names */
  constructor(nameOf: NameOf, others: Readonly<Record<string, Node>> = {}) {
    this.#nameOf = nameOf;
    for (const [name, copy] of Object.entries(others)) this.#schemas.set(name, { text: '', copy });
  }

  /** @throws Error when two different schemas have one name */
  add(schema: object, side: Side): Node {
    const name = this.#nameOf(schema);
    if (name === undefined) return this.#copyOf(schema, side);
    const isSame = JSON.stringify(plain(schema, 'input')) === JSON.stringify(plain(schema, 'answer'));
    const key = isSame ? name : `${name} ${side}`;
    const text = JSON.stringify(schema);
    const known = this.#schemas.get(key);
    if (known && known.text !== text) throw new Error(`Two schemas of the API are called ${name}.`);
    if (!known) this.#schemas.set(key, { text, copy: this.#copyOf(schema, side) });
    return { $ref: `${PLACE}${key}` };
  }

  #copyOf(schema: object, side: Side): Node {
    return copyWith(schema, side, (each) => this.add(each, side));
  }

  /** Writes the components into a description. A schema that is sent in another form gets a name of its own. */
  completed<Description extends { readonly components: object }>(description: Description): Description {
    const nameOf = (key: string) => {
      const [name = '', side] = key.split(' ');
      return side === 'input' && this.#schemas.has(`${name} answer`) ? `${name}Input` : name;
    };
    const entries = [...this.#schemas].map(([key, { copy }]) => [nameOf(key), copy] as const);
    const schemas = Object.fromEntries(entries.toSorted(([one], [other]) => (one < other ? -1 : 1)));
    if (Object.keys(schemas).length < entries.length)
      throw new Error('A schema has the name that another gets for its input.');
    const whole = { ...description, components: { ...description.components, schemas } };
    return JSON.parse(JSON.stringify(whole), (key, value) =>
      key === '$ref' && value.startsWith(PLACE) ? `${PLACE}${nameOf(value.slice(PLACE.length))}` : value,
    );
  }
}

const plain = (schema: object, side: Side): Node => copyWith(schema, side, (each) => plain(each, side));

/** The words of JSON Schema that hold one schema, a list of schemas, and schemas by their names. */
const HOLDERS = {
  one: new Set(['items', 'additionalProperties', 'propertyNames', 'not']),
  list: new Set(['anyOf', 'oneOf', 'allOf']),
  named: new Set(['properties', 'patternProperties']),
};

function copyWith(schema: object, side: Side, copy: (schema: object) => Node): Node {
  const { properties = {} } = schema as { properties?: Readonly<Record<string, { default?: unknown }>> };
  const entries = Object.entries(schema).flatMap(([word, value]): [string, unknown][] => {
    if (word === 'trim') return []; // an instruction to our own validator
    if (word === 'const') return [['enum', [value]]];
    if (word === 'required' && side === 'input') {
      const needed = value.filter((name: string) => properties[name]?.default === undefined);
      return [[word, needed]];
    }
    if (HOLDERS.one.has(word) && typeof value === 'object') return [[word, copy(value)]];
    if (HOLDERS.list.has(word)) return [[word, value.map(copy)]];
    if (!HOLDERS.named.has(word)) return [[word, value]];
    const copies = Object.entries<object>(value).map(([name, each]) => [name, copy(each)]);
    return [[word, Object.fromEntries(copies)]];
  });
  return Object.fromEntries(entries);
}

const SOURCES = ['apps/server/src/**/*.ts', 'packages/protocol/src/**/*.ts'];
const NO_SCHEMAS = /\.(test|samples|thread)\.ts$|\/(main|process-io)\.ts$/;

/** Finds the name of a schema: that of the exported constant which holds it. */
type NameOf = (schema: object) => string | undefined;

/** Looks at every exported schema of the service and of the protocol. */
export async function schemaNames(root: string): Promise<NameOf> {
  const bySchema = new Map<object, string>();
  const byText = new Map<string, string>();
  for (const file of SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root })).sort()) {
    if (NO_SCHEMAS.test(file) || !readFileSync(join(root, file), 'utf8').includes("'typebox'")) continue;
    const exported: Readonly<Record<string, unknown>> = await import(join(root, file));
    for (const [name, value] of Object.entries(exported)) {
      if (typeof value !== 'object' || value === null || !('~kind' in value) || !isWorthAName(value))
        continue;
      if (!bySchema.has(value)) bySchema.set(value, name);
      const text = JSON.stringify(value);
      byText.set(text, byText.get(text) ?? name);
    }
  }
  // An optional member has a copy of its schema.
  return (schema) =>
    isWorthAName(schema) ? (bySchema.get(schema) ?? byText.get(JSON.stringify(schema))) : undefined;
}

interface Shape {
  readonly type?: unknown;
  readonly enum?: readonly unknown[];
  readonly properties?: object;
  readonly items?: object;
  readonly anyOf?: readonly object[];
}

/** Objects, lists of objects, choices and closed sets. A text or a number is described where it is used. */
function isWorthAName(schema: object): boolean {
  const { type, enum: values = [], properties = {}, items, anyOf }: Shape = schema;
  if (anyOf) return anyOf.some(isWorthAName);
  if (type === 'array') return items !== undefined && isWorthAName(items);
  return values.length > 1 || (type === 'object' && Object.keys(properties).length > 0);
}

const WIDTH = 160;

/** JSON of which each value takes one line if it fits, and else a line for each of its members. */
export const laidOut = (value: unknown): string => `${written(value, '', 0)}\n`;

function written(value: unknown, indent: string, before: number): string {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return flat;
  if (indent.length + before + flat.length < WIDTH) return flat;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const deeper = `${indent} `;
  const lines = Object.entries(value).map(([name, member]) => {
    const key = Array.isArray(value) ? '' : `${JSON.stringify(name)}:`;
    return `${deeper}${key}${written(member, deeper, key.length)}`;
  });
  return lines.length === 0 ? flat : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}
