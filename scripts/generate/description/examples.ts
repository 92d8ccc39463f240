import { requestTo, ways } from '../../../apps/server/test/app/every-route.ts';
import { exampleText, records, type TextSchema } from './example-values.ts';
import { resolved } from './resolve.ts';

interface Schema extends TextSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly enum?: readonly unknown[];
  readonly default?: unknown;
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly minProperties?: number;
  readonly additionalProperties?: boolean | Schema;
  readonly propertyNames?: Schema;
  readonly items?: Schema;
  readonly minItems?: number;
  readonly minimum?: number;
}
interface Body {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}
interface Described {
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Body>>;
}
type Paths = Readonly<Record<string, Readonly<Record<string, object>>>>;
type Example = (schema: Schema, type: string) => unknown;

/** Adds an example to each body, and to each good answer that is JSON. */
export function withExamples<Whole extends { readonly paths: Paths; readonly components: object }>(
  whole: Whole,
): Whole {
  // Made by `operationOf`.
  const plain = resolved(whole) as { readonly paths: Readonly<Record<string, Record<string, Described>>> };
  const shared = new SharedExamples();
  const paths = mapped(whole.paths, (verbs, path) =>
    mapped(verbs, (given, verb) => {
      const { requestBody, responses, ...rest } = given as Described;
      const form = plain.paths[path]?.[verb];
      const operation = `${verb.toUpperCase()} ${path.replaceAll(/\{(\w+)\}/g, ':$1')}`;
      const sent: Example = (schema) => bodyOf(operation, schema);
      const answered: Example = (schema, type) =>
        type === 'application/json'
          ? valueLike(schema, { name: '', id: ways[operation]?.id, isInput: false })
          : undefined;
      return {
        ...rest,
        ...(requestBody && { requestBody: shared.addTo(requestBody, form?.requestBody, sent) }),
        responses: mapped(responses, (body, status) =>
          status < '300' ? shared.addTo(body, form?.responses[status], answered) : body,
        ),
      };
    }),
  );
  return { ...whole, paths, components: { ...whole.components, examples: shared.all() } };
}

function mapped<From, To>(members: Readonly<Record<string, From>>, to: (member: From, name: string) => To) {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, to(member, name)]));
}

/** Examples of named schemas. The first of each name is a component; another one is written where it is used. */
class SharedExamples {
  readonly #values = new Map<string, unknown>();

  addTo(body: Body, resolvedBody: Body | undefined, exampleOf: Example): Body {
    if (!body.content) return body;
    const content = mapped(body.content, (media, type) => {
      const value = exampleOf(resolvedBody?.content?.[type]?.schema ?? {}, type);
      if (value === undefined) return media;
      const name = media.schema.$ref?.split('/').at(-1);
      if (name === undefined) return { ...media, example: value };
      if (!this.#values.has(name)) this.#values.set(name, value);
      if (JSON.stringify(this.#values.get(name)) !== JSON.stringify(value))
        return { ...media, example: value };
      return { ...media, examples: { [name]: { $ref: `#/components/examples/${name}` } } };
    });
    return { ...body, content };
  }

  all(): object {
    const names = [...this.#values.keys()].sort();
    return Object.fromEntries(names.map((name) => [name, { value: this.#values.get(name) }]));
  }
}

/** A body that the tests of the service send, unless it is another one each time. */
function bodyOf(operation: string, schema: Schema): unknown {
  const [first, again] = [1, 2].map(() => requestTo(operation, records).body);
  const isSettled = first !== undefined && JSON.stringify(first) === JSON.stringify(again);
  return isSettled ? first : valueLike(schema, { name: '', id: undefined, isInput: true });
}

interface Place {
  /** Of the member, or of the list that the value is in. */
  readonly name: string;
  /** Names the record whose `id` this is. */
  readonly id: string | undefined;
  readonly isInput: boolean;
}

function valueLike(schema: Schema, place: Place): unknown {
  const { enum: values, anyOf, type, items, minItems = 0, minimum = 0 } = schema;
  if (values) return values[0];
  if (anyOf) return valueLike(anyOf.find((each) => each.type !== 'null') ?? {}, place);
  switch (type) {
    case 'string':
      return exampleText(schema, place.name === 'id' ? (place.id ?? '') : place.name);
    case 'integer':
    case 'number':
      return typeof schema.default === 'number' ? schema.default : Math.max(minimum, 1);
    case 'boolean':
      return true;
    case 'null':
      return null;
    case 'array':
      return Array.from({ length: Math.max(minItems, 1) }, () =>
        valueLike(items ?? {}, { ...place, id: idOfRow(place.name) ?? place.id }),
      );
    case 'object':
      return objectLike(schema, place);
    default:
      return {};
  }
}

/** An answer with all of its members, or a body with those that it needs. */
function objectLike(schema: Schema, place: Place): object {
  const { properties = {}, required = [], minProperties = 0, additionalProperties: others } = schema;
  const names = Object.keys(properties);
  const needed = place.isInput ? names.filter((name) => required.includes(name)) : names;
  const shown = needed.length > 0 ? needed : names.slice(0, minProperties);
  const members = shown.map((name) => [name, valueLike(properties[name] ?? {}, { ...place, name })]);
  if (members.length === 0 && typeof others === 'object')
    members.push([exampleText(schema.propertyNames ?? {}, ''), valueLike(others, place)]);
  return Object.fromEntries(members);
}

/** The record of a row: a row of `agents` is an agent. */
function idOfRow(list: string): string | undefined {
  const id = `${list.replace(/ies$/, 'y').replace(/s$/, '')}Id`;
  return id in records ? id : undefined;
}
