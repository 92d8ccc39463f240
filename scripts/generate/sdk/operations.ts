import { EXEMPT, NAMINGS, type Naming, NUMBERS, OF_BROWSERS, OF_PROGRAMS } from './names.ts';

interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}
type Content = Readonly<Record<string, { readonly schema: Schema }>>;
export interface Described {
  readonly operationId?: string;
  readonly tags?: readonly string[];
  readonly summary?: string;
  readonly description?: string;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** As much of an OpenAPI description as the methods are made from. */
export interface Description {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>;
}

/** An operation with the method that calls it. */
export interface Operation extends Naming {
  readonly id: string;
  readonly method: string;
  readonly verb: string;
  readonly path: string;
  readonly summary: string;
  readonly description: string | undefined;
  readonly credential: string | undefined;
  readonly isKeyed: boolean;
  readonly inPath: readonly string[];
  readonly body: Schema | undefined;
  readonly query: Schema | undefined;
  readonly answer: Schema | undefined;
  /** True where some answers have no body. */
  readonly isMaybeEmpty: boolean;
  /** True where the answer may be something else than JSON, such as an archive. */
  readonly isFile: boolean;
  /** The member of the answer that has the rows of a page. */
  readonly rows: string | undefined;
  /** True where the answer is the rows themselves, and its header `Link` names the page after it. */
  readonly isLinked: boolean;
}

/** Says why an operation has no method. @returns undefined for one that has to have one */
export function exemptionOf(id: string, credential: string | undefined): string | undefined {
  const found = Object.keys(EXEMPT).find((start) => id.startsWith(start));
  if (found === undefined || found === id) return found && EXEMPT[found];
  return credential !== undefined && OF_PROGRAMS.has(credential) ? undefined : EXEMPT[found];
}

/** Lists the operations that have methods, in the order of the description. */
export function operationsOf({ paths }: Description): Operation[] {
  return Object.entries(paths).flatMap(([path, verbs]) =>
    Object.entries(verbs).flatMap(([verb, described]) => {
      const { operationId: id, security = [] } = described;
      const credential = Object.keys(security[0] ?? {})[0];
      const isOfBrowser = OF_BROWSERS.has(credential ?? '');
      if (id === undefined || isOfBrowser || exemptionOf(id, credential)) return [];
      return [operationOf(id, verb, path, credential, described)];
    }),
  );
}

function operationOf(
  id: string,
  verb: string,
  path: string,
  credential: string | undefined,
  described: Described,
): Operation {
  const { parameters = [], requestBody, responses } = described;
  const all = Object.entries(responses).filter(([status]) => status < '300');
  // A call that a second member has to agree to throws, so its 202 is no answer of the method.
  const good = all.length > 1 ? all.filter(([status]) => status !== '202') : all;
  const contents = good.flatMap(([, { content = {} }]) => Object.entries(content));
  const answer = contents.find(([type]) => type === 'application/json')?.[1].schema;
  const query = querySchema(parameters.filter((each) => each.in === 'query'));
  return {
    ...{ id, verb: verb.toUpperCase(), path, credential, query, answer, method: id },
    ...NAMINGS[id],
    summary: described.summary ?? id,
    description: described.description,
    isKeyed: parameters.some(({ name }) => name === 'Idempotency-Key'),
    inPath: [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name),
    body: without(requestBody?.content['application/json']?.schema, NAMINGS[id]?.omits ?? []),
    isMaybeEmpty: answer !== undefined && good.some(([status]) => status === '204'),
    isFile: contents.some(([type]) => type !== 'application/json' && type !== 'text/plain'), // a text says what the JSON says
    rows: rowsOf(query, answer),
    isLinked: query?.properties?.cursor !== undefined && answer?.type === 'array',
  };
}

/** @returns undefined for a body that has to be empty */
function without(schema: Schema | undefined, omitted: readonly string[]): Schema | undefined {
  if (!schema?.properties) return schema;
  const isEmpty = Object.keys(schema.properties).length === 0 && schema.additionalProperties === false;
  if (isEmpty) return undefined;
  const properties = Object.entries(schema.properties).filter(([name]) => !omitted.includes(name));
  return { ...schema, properties: Object.fromEntries(properties) };
}

/** A query is text. Where the service reads a number or a truth value in it, the program hands over one. */
function schemaOf({ name, schema }: Parameter): Schema {
  if (NUMBERS.has(name) && schema.type === 'string') return { type: 'number' };
  if (schema.enum?.toSorted().join() !== 'false,true') return schema;
  return { type: 'boolean', ...(schema.default !== undefined && { default: schema.default === 'true' }) };
}

function querySchema(parameters: readonly Parameter[]): Schema | undefined {
  if (parameters.length === 0) return undefined;
  const properties = Object.fromEntries(
    parameters.map((parameter) => {
      const { name, description } = parameter;
      return [name, { ...schemaOf(parameter), ...(description && { description }) }];
    }),
  );
  const required = parameters.filter(({ required }) => required).map(({ name }) => name);
  return { type: 'object', properties, required };
}

function rowsOf(query: Schema | undefined, answer: Schema | undefined): string | undefined {
  if (!query?.properties?.cursor || !answer?.properties?.nextCursor) return undefined;
  return Object.entries(answer.properties).find(
    ([name, { type }]) => type === 'array' && name !== 'schemas',
  )?.[0];
}

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

interface TypeOptions {
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
