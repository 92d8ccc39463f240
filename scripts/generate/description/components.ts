import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type ErrorCode, errorCodes } from '@behest/protocol/errors';

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

/**
 * JSON of which each value takes one line if it fits, and else a line for each of its members. An example takes one line
 * in any case, so that a changed example is one changed line.
 */
export const laidOut = (value: unknown): string => `${written(value, '', '', WIDTH)}\n`;

function written(value: unknown, indent: string, before: string, width: number): string {
  const flat = JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return flat;
  if (indent.length + before.length + flat.length < width) return flat;
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  const deeper = `${indent} `;
  const within = before === '"examples":' ? Number.POSITIVE_INFINITY : WIDTH;
  const lines = Object.entries(value).map(([name, member]) => {
    const key = Array.isArray(value) ? '' : `${JSON.stringify(name)}:`;
    return `${deeper}${key}${written(member, deeper, key, within)}`;
  });
  return lines.length === 0 ? flat : `${open}\n${lines.join(',\n')}\n${indent}${close}`;
}

type Named = Record<string, unknown>;
interface Parameter {
  readonly in: string;
  readonly name: string;
}
interface Described {
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly responses: Readonly<Record<string, object>>;
}
interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, object>>>>;
  readonly components: object;
}

/** Moves parameters and refusals that several operations have into the components. */
export function sharedParts<Whole extends Description>(whole: Whole): Whole {
  // Made by `operationOf`.
  const operations = Object.values(whole.paths).flatMap((verbs) => Object.values(verbs)) as Described[];
  const parameters = namedParameters(operations);
  const responses = namedRefusals(operations);
  const referring =
    (part: 'parameters' | 'responses', names: ReadonlyMap<string, string>) => (value: object) => {
      const name = names.get(JSON.stringify(value));
      return name === undefined ? value : { $ref: `#/components/${part}/${name}` };
    };
  const [parameter, response] = [referring('parameters', parameters), referring('responses', responses)];
  const shared = ({ parameters: own, responses: answers, ...rest }: Described) => ({
    ...rest,
    ...(own && { parameters: own.map(parameter) }),
    responses: Object.fromEntries(Object.entries(answers).map(([status, each]) => [status, response(each)])),
  });
  const paths = Object.entries(whole.paths).map(([path, verbs]) => [
    path,
    Object.fromEntries(Object.entries(verbs).map(([verb, each]) => [verb, shared(each as Described)])),
  ]);
  const components = { ...whole.components, parameters: byName(parameters), responses: byName(responses) };
  return { ...whole, paths: Object.fromEntries(paths), components };
}

const byName = (names: ReadonlyMap<string, string>): Named =>
  Object.fromEntries(
    [...names]
      .map(([text, name]) => [name, JSON.parse(text)])
      .toSorted(([one], [other]) => (one < other ? -1 : 1)),
  );

interface Use {
  readonly text: string;
  readonly tag: string;
}

/** The form that most uses of a parameter have gets its name; another form, that of its noun and its name. */
function namedParameters(operations: readonly Described[]): Map<string, string> {
  const uses = operations.flatMap(({ tags, parameters = [] }) =>
    parameters.map((each) => ({ name: each.name, text: JSON.stringify(each), tag: String(tags[0]) })),
  );
  const names = new Map<string, string>();
  for (const [name, own] of Map.groupBy(uses, (use) => use.name)) {
    for (const [text, same] of Map.groupBy(own, (use: Use) => use.text)) {
      if (same.length < 2) continue;
      const tags = new Set(same.map(({ tag }) => tag));
      if (same.length > own.length / 2) names.set(text, pascal(name));
      else if (tags.size === 1) names.set(text, `${pascal([...tags].join())}${pascal(name)}`);
    }
  }
  return withoutDoubles(names);
}

/** A refusal is named for its codes. */
function namedRefusals(operations: readonly Described[]): Map<string, string> {
  const texts = operations.flatMap(({ responses }) =>
    Object.entries(responses).flatMap(([status, each]) => (status >= '400' ? [JSON.stringify(each)] : [])),
  );
  const names = new Map<string, string>();
  for (const [text, same] of Map.groupBy(texts, (each) => each)) {
    const name = nameOfRefusal(text);
    if (name !== undefined && (same.length > 1 || !name.includes('Or'))) names.set(text, name);
  }
  return withoutDoubles(names);
}

function nameOfRefusal(text: string): string | undefined {
  const { content } = JSON.parse(text);
  const schema = content?.['application/json']?.schema;
  const [, own] = schema?.allOf ?? [];
  if (!own) return schema?.$ref?.split('/').at(-1);
  const codes: ErrorCode[] = own.properties.code.enum;
  const words = codes
    .filter((code) => code in errorCodes && code !== 'IDEMPOTENCY_IN_PROGRESS')
    .map((code) => pascal(code.toLowerCase()));
  return words.join('Or');
}

/** Two forms of one name would make a client whose types depend on their order. */
function withoutDoubles(names: Map<string, string>): Map<string, string> {
  const all = [...names.values()];
  const doubled = all.filter((name, at) => all.indexOf(name) !== at);
  if (doubled.length > 0) throw new Error(`Two parts of the description are called ${doubled.join(', ')}.`);
  return names;
}

const pascal = (name: string) =>
  name
    .split(/[-_]/)
    .map((word) => `${word.charAt(0).toUpperCase()}${word.slice(1)}`)
    .join('');
