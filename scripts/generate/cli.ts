import { readDescription } from './description/resolve.ts';
import { type Operation, operationsOf, type Schema } from './sdk/operations.ts';

/** The table of the operations that the commands of the CLI are made from. */
export function cliTable(description: string): string {
  const rows = operationsOf(readDescription(description)).map(
    (operation) => `  ${JSON.stringify(rowOf(operation))},`,
  );
  return [
    '// Made from openapi.json by `npm run generate`.',
    "import type { OperationRow } from './rows.ts';",
    '',
    `export const OPERATIONS: readonly OperationRow[] = [\n${rows.join('\n')}\n];\n`,
  ].join('\n');
}

function rowOf({ id, method, verb, path, summary, inPath, first = [], ...rest }: Operation) {
  const { body, query, credential, rows, isFile } = rest;
  const fieldsOf = (schema: Schema) =>
    Object.entries(schema.properties ?? {})
      .filter(([name]) => !first.includes(name) && !isSecondSpelling(name, schema))
      .map(([name, member]) => fieldOf(name, member, schema));
  const membersOf = (schema: Schema | undefined) => {
    const fields = schema && fieldsOf(schema);
    const isWhole = fields?.length === 0 && Object.keys(schema?.properties ?? {}).length > 0;
    return isWhole ? undefined : fields;
  };
  const [inBody, inQuery] = [membersOf(body), membersOf(query)];
  return {
    ...{ id, method, sends: `${verb} ${path}`, summary, path: inPath, first },
    ...(inBody && { body: inBody }),
    ...(inQuery && { query: inQuery }),
    ...(credential !== 'developer' && { as: credential ?? 'nobody' }),
    ...(rows && { rows }),
    ...(isFile && { file: true }),
  };
}

/** True for `authorization_details` beside `authorizationDetails`. */
function isSecondSpelling(name: string, { properties = {} }: Schema): boolean {
  const camel = name.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return camel !== name && camel in properties;
}

function fieldOf(name: string, given: Schema, { required = [] }: Schema) {
  const schema = withoutNull(given);
  const { description, enum: values } = schema;
  const most = Object(schema).maximum;
  return {
    ...{ name, type: typeOf(schema) },
    ...(required.includes(name) && given.default === undefined && { required: true }),
    ...(description && { about: description }),
    ...(values && { values: values.map(String) }),
    ...(typeof most === 'number' && { most }),
  };
}

/** A member that may be null, without that possibility: a file says null. */
function withoutNull(schema: Schema): Schema {
  const { anyOf, oneOf, ...rest } = schema;
  const choices = (anyOf ?? oneOf ?? []).filter(({ type }) => type !== 'null');
  const [only] = choices;
  if (!only) return schema;
  if (choices.length === 1) return { ...rest, ...only };
  // Amounts are numbers or texts. As texts they are kept as they were typed.
  const text = choices.find(({ type }) => type === 'string');
  const isPlain = choices.every(({ type }) => type === 'string' || type === 'number' || type === 'integer');
  if (text && isPlain) return { ...rest, ...text };
  const values = choices.map(({ const: value }) => value);
  return values.every((value) => typeof value === 'string') ? { ...rest, enum: values } : schema;
}

function typeOf({ type, enum: values, const: value, items }: Schema): string {
  if (values || typeof value === 'string') return 'string';
  if (type === 'array') {
    const item = items && withoutNull(items);
    return item?.type === 'string' || item?.enum ? 'list' : 'json';
  }
  const isPlain = type === 'string' || type === 'integer' || type === 'number' || type === 'boolean';
  return isPlain ? type : 'json';
}
