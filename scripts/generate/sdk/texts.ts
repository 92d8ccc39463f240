import { TYPE_NAMES } from './names.ts';
import { type Operation, plainText, type Schema, typeText, withoutEnd } from './operations.ts';

const HEAD = '// Made from openapi.json by `npm run generate`.\n';

/** The table of the SDK: each operation with its method, and with what the method takes and sends. */
export function tableText(operations: readonly Operation[]): string {
  const rows = operations.map((operation) => {
    const { id, method, verb, path, first, rows: list } = operation;
    const members = [
      `method: '${method}'`,
      `sends: '${verb} ${path}'`,
      first && `first: ${JSON.stringify(first)}`,
      takesOf(operation) && `takes: '${takesOf(operation)}'`,
      operation.credential !== 'developer' && `as: '${operation.credential ?? 'nobody'}'`,
      operation.reads && 'reads: true',
      operation.isKeyed && !operation.reads && 'keyed: true',
      operation.isFile && 'file: true',
      list && `rows: '${list}'`,
      operation.isLinked && 'linked: true',
      operation.byHand && 'byHand: true',
    ];
    return `  '${id}': { ${members.filter(Boolean).join(', ')} },`;
  });
  return `${HEAD}import type { CallRow } from './rows.ts';\n\nexport const CALLS = {\n${rows.join('\n')}\n} as const satisfies Readonly<Record<string, CallRow>>;\n`;
}

/** Says which objects come after the arguments that are named one by one. */
function takesOf({ body, query, first = [] }: Operation): 'body' | 'query' | 'both' | undefined {
  const hasRest = (schema: Schema | undefined) => {
    const names = schema && Object.keys(schema.properties ?? {});
    return names?.length === 0 || names?.some((name) => !first.includes(name));
  };
  if (body && query) return 'both';
  if (hasRest(body)) return 'body';
  return hasRest(query) ? 'query' : undefined;
}

/** The types of the SDK: what each method takes and answers, and an interface for each resource. */
export function typesText(operations: readonly Operation[]): string {
  const { declared, textOf } = namedTypes(operations);
  const made = operations.filter(({ byHand }) => !byHand);
  // An account and the operator may each have methods of one noun, and neither has those of the other.
  const [account, operator] = [made.filter((each) => !isOperators(each)), made.filter(isOperators)].map(
    (own) => Map.groupBy(own, ({ method }) => (method.includes('.') ? (method.split('.')[0] ?? '') : '')),
  );
  const interfacesOf = (resources: typeof account, prefix = '') =>
    [...(resources ?? [])].flatMap(([resource, own]) => {
      const methods = own.map((operation) => methodText(operation, textOf));
      return resource === ''
        ? []
        : [`export interface ${prefix}${pascal(resource)}Api {\n${methods.join('\n')}\n}`];
    });
  const membersOf = (resources: typeof account, prefix = '') =>
    [...(resources ?? [])]
      .flatMap(([name, own]) =>
        name === ''
          ? own.map((operation) => methodText(operation, textOf))
          : [`  readonly ${name}: ${prefix}${pascal(name)}Api;`],
      )
      .join('\n');
  return [
    `${HEAD}import type { CallOptions, List } from './rows.ts';`,
    ...declared,
    ...interfacesOf(account),
    ...interfacesOf(operator, 'Admin'),
    `/** The methods of the operator, made from the table too. */\nexport interface OperatorResources {\n${membersOf(operator, 'Admin')}\n}`,
    `/** The methods that are made from the table. */\nexport interface ApiResources {\n${membersOf(account)}\n}\n`,
  ].join('\n\n');
}

const isOperators = ({ credential }: Operation) => credential === 'operator';

type Side = 'Input' | 'Query' | 'Answer';

/** Declares a type for each body, query and answer. An object that is written twice is declared once. */
function namedTypes(operations: readonly Operation[]) {
  const names = new Map<string, string>();
  const declared: string[] = [];
  const known = operations.toSorted(
    (one, other) => Number(other.id in TYPE_NAMES) - Number(one.id in TYPE_NAMES),
  );
  const typed = new Map<string, string>();
  for (const operation of known) {
    for (const [side, schema] of sidesOf(operation)) {
      const isInput = side !== 'Answer';
      const options = { isInput, nameFor: (text: string) => names.get(`${isInput} ${text}`) };
      const own = TYPE_NAMES[side === 'Answer' ? operation.id : `${operation.id} ${side}`];
      const name = own ?? `${operation.method.split('.').map(pascal).join('')}${side}`;
      if (own === undefined && operation.rows && side === 'Answer')
        declareRows(schema, operation.rows, `${name.replace(/Answer$/, '')}Item`, options);
      const text = plainText(schema, options);
      const found = options.nameFor(text);
      typed.set(`${operation.id} ${side}`, found ?? (text.startsWith('{\n') ? name : text));
      if (found || !text.startsWith('{\n')) continue;
      names.set(`${isInput} ${text}`, name);
      declared.push(declaration(name, text));
    }
  }
  function declareRows(schema: Schema, rows: string, name: string, options: Parameters<typeof typeText>[1]) {
    const item = schema.properties?.[rows]?.items;
    const text = item && plainText(item, options);
    if (!text?.startsWith('{\n') || options.nameFor(text)) return;
    names.set(`false ${text}`, name);
    declared.push(declaration(name, text));
  }
  const textOf = (operation: Operation, side: Side) => typed.get(`${operation.id} ${side}`);
  return { declared, textOf };
}

const declaration = (name: string, text: string) =>
  text.startsWith('{') && text.endsWith('}') && !/^\}( \||\[\])/m.test(text)
    ? `export interface ${name} ${text}`
    : `export type ${name} = ${text};`;

function sidesOf({ body, query, answer, first = [] }: Operation): [Side, Schema][] {
  const rest = (schema: Schema): Schema => {
    const properties = Object.entries(schema.properties ?? {}).filter(([name]) => !first.includes(name));
    return schema.properties ? { ...schema, properties: Object.fromEntries(properties) } : schema;
  };
  const sides: [Side, Schema | undefined][] = [
    ['Input', body && rest(body)],
    ['Query', query && rest(query)],
    ['Answer', answer],
  ];
  return sides.flatMap(([side, schema]) => (schema ? [[side, schema] as [Side, Schema]] : []));
}

function methodText(operation: Operation, textOf: (of: Operation, side: Side) => string | undefined): string {
  const { method, verb, path, summary, description, credential, inPath, body, query, first = [] } = operation;
  const sent = body ?? query;
  const isOptional = (schema: Schema | undefined) =>
    Object.keys(schema?.properties ?? {}).length > 0 &&
    !(schema?.required ?? []).some(
      (name) => !first.includes(name) && schema?.properties?.[name]?.default === undefined,
    );
  const takes = takesOf(operation);
  const named = (name: string) =>
    `${name}: ${typeText(sent?.properties?.[name] ?? {}, { isInput: true, nameFor: () => undefined })}`;
  const parameters = [
    ...(credential === 'grant' ? ['grantToken: string'] : []),
    ...inPath.map((name) => `${name}: string`),
    ...first.map(named),
    ...(takes === 'body' || takes === 'both'
      ? [`input${isOptional(body) ? '?' : ''}: ${textOf(operation, 'Input')}`]
      : []),
    ...(takes === 'query' || takes === 'both'
      ? [`query${isOptional(query) || takes === 'both' ? '?' : ''}: ${textOf(operation, 'Query')}`]
      : []),
    'options?: CallOptions',
  ];
  const answer = textOf(operation, 'Answer') ?? 'void';
  const more = description ? ` ${withoutEnd(description)}` : '';
  const comment = `  /**\n   * ${withoutEnd(summary)}.${more}\n   *\n   * Sends \`${verb} ${path}\`.\n   */\n`;
  const name = method.split('.')[1] ?? method;
  const plain = `${comment}  ${name}(${parameters.join(', ')}): ${resultText(operation, answer)};`;
  if (!operation.isFile || answer === 'void') return plain;
  const asJson = parameters.map((text) =>
    text.startsWith('query') ? `${text} & { readonly format?: 'json' }` : text,
  );
  return `${comment}  ${name}(${asJson.join(', ')}): Promise<${answer}>;\n${plain}`;
}

/** A method whose answer may be a file hands over the response, for the program to read or to pass on. */
function resultText({ isFile, isLinked, isMaybeEmpty, rows }: Operation, answer: string): string {
  if (isMaybeEmpty) return `Promise<${answer} | undefined>`;
  if (isFile) return answer === 'void' ? 'Promise<Response>' : `Promise<${answer} | Response>`;
  if (isLinked) return `List<${answer}, (${answer})[number]>`;
  return rows ? `List<${answer}, ${answer}['${rows}'][number]>` : `Promise<${answer}>`;
}

const pascal = (name: string) => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
