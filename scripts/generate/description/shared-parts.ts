import { type ErrorCode, errorCodes } from '@behest/protocol/errors';

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
