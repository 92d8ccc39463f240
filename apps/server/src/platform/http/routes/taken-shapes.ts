import type { RouteOptions } from 'fastify';
import { Format } from 'typebox/format';
import { Value } from 'typebox/value';

/** The part of JSON Schema that may describe a request. TypeBox's own type allows any schema at all. */
export interface Shape {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Shape;
  readonly propertyNames?: Shape;
  readonly items?: Shape;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly pattern?: string;
  readonly format?: string;
  readonly default?: unknown;
}

interface Node {
  readonly shape: Shape;
  readonly place: string;
  /** 0 is the body, query or path itself. Only its own members, 1, are trimmed and given defaults. */
  readonly depth: number;
  readonly isOptional: boolean;
}

const COMMON = ['type', 'const', 'description'];
const KEYWORDS: Readonly<Record<string, readonly string[]>> = {
  string: ['minLength', 'maxLength', 'pattern', 'format'],
  integer: ['minimum', 'maximum'],
  number: ['minimum', 'maximum'],
  boolean: [],
  null: [],
  array: ['items', 'minItems', 'maxItems'],
  object: [
    'properties',
    'required',
    'additionalProperties',
    'propertyNames',
    'minProperties',
    'maxProperties',
  ],
  enum: ['enum'],
  anyOf: ['anyOf'],
  anything: [],
};

/**
 * Finds shapes of a request that say something other than they seem to: TypeBox passes over a keyword that it
 * does not know, such as a misspelt bound, and takes any member that an object does not rule out.
 */
export function faultsOfShapes({ method, url, schema }: RouteOptions): string[] {
  // The type allows any schema at all; the code below checks the real one.
  const { body, querystring, params } = Object(schema) as Record<string, Shape | undefined>;
  const isPatch = method === 'PATCH';
  return [
    ...(body && !takesBody(method) ? ['body is never read'] : []),
    ...(params ? pathFaults(url, params) : []),
    ...faultsIn(body, 'body', isPatch ? sound.patch : sound.body, (node) => bodyFault(node, isPatch)),
    ...faultsIn(querystring, 'query', sound.query, textFault),
    ...faultsIn(params, 'path', sound.path, textFault),
  ];
}

/** Shapes without a fault, by where they stand: an app that is made again has the same ones. */
const sound = {
  body: new WeakSet<Shape>(),
  patch: new WeakSet<Shape>(),
  query: new WeakSet<Shape>(),
  path: new WeakSet<Shape>(),
};

function faultsIn(
  shape: Shape | undefined,
  place: string,
  known: WeakSet<Shape>,
  faultOf: (node: Node) => string | undefined,
): string[] {
  if (!shape || known.has(shape)) return [];
  const faults = nodesOf(shape, place).flatMap((node) => say(node, faultOf(node)));
  if (faults.length === 0) known.add(shape);
  return faults;
}

/** The service ignores bodies of other methods. */
export const takesBody = (method: unknown) => ['POST', 'PUT', 'PATCH'].includes(String(method));

/** A parameter under another name is always absent, so the route would answer nothing but 404. */
function pathFaults(url: string, { properties = {} }: Shape): string[] {
  const named = [...url.matchAll(/:(\w+)/g)].map(([, name = '']) => name);
  const declared = Object.keys(properties);
  const isSame = named.length === declared.length && named.every((name) => declared.includes(name));
  return isSame ? [] : [`path has ${named.join(', ')} and declares ${declared.join(', ')}`];
}

const say = ({ place }: Node, fault: string | undefined) => (fault ? [`${place} ${fault}`] : []);

function bodyFault(node: Node, isPatch: boolean): string | undefined {
  const { shape, depth } = node;
  if (depth === 0 && shape.type !== 'object') return 'is not an object';
  if (shape.type === 'object' && shape.additionalProperties === undefined) {
    return 'does not say whether it takes members beyond its own (`additionalProperties`)';
  }
  if (isPatch && 'default' in shape) return 'has a default, so that a change of something else sets it';
  return fault(node);
}

/** The path and the query are text. Only their direct members become numbers. */
function textFault(node: Node): string | undefined {
  const { shape, depth } = node;
  const isText = shape.type === 'string' || shape.type === 'integer' || shape.enum?.every(isString);
  return depth === 1 && !isText ? 'is not read from text' : fault(node);
}

const isString = (value: unknown) => typeof value === 'string';

function fault({ shape, depth, isOptional }: Node): string | undefined {
  const kind = kindOf(shape);
  const known = [...COMMON, ...(KEYWORDS[kind] ?? []), ...(depth === 1 ? ['default', 'trim'] : [])];
  const unread = Object.keys(shape).filter((name) => !known.includes(name));
  if (!KEYWORDS[kind]) return `is of the type ${kind}, which nothing makes`;
  if (unread.length > 0) return `has ${unread.join(', ')}, which nothing looks at there`;
  if (shape.format !== undefined && !Format.Has(shape.format))
    return `has the format ${shape.format}, which is not checked`;
  if (shape.pattern !== undefined && !shape.format && !/^\^.*\$$/.test(shape.pattern)) {
    return 'has a pattern that does not hold from the beginning to the end';
  }
  if (!('default' in shape)) return undefined;
  if (isOptional) return 'is optional and has a default, so it is never absent';
  return Value.Check(shape, shape.default) ? undefined : 'has a default that it would refuse';
}

function kindOf({ type, enum: allowed, anyOf }: Shape): string {
  if (anyOf) return 'anyOf';
  return allowed ? 'enum' : (type ?? 'anything');
}

/** The shape and all shapes within it, each with its path. */
function nodesOf(shape: Shape | undefined, place: string, depth = 0, isOptional = false): Node[] {
  if (!shape) return [];
  const { properties = {}, required = [], additionalProperties, propertyNames, items, anyOf = [] } = shape;
  const others = typeof additionalProperties === 'object' ? additionalProperties : undefined;
  return [
    { shape, place, depth, isOptional },
    ...Object.entries(properties).flatMap(([name, each]) =>
      nodesOf(each, `${place}.${name}`, depth + 1, !required.includes(name)),
    ),
    ...nodesOf(others, `${place}.*`, depth + 2),
    ...nodesOf(propertyNames, `${place} (names)`, depth + 2),
    ...nodesOf(items, `${place}[]`, depth + 2),
    ...anyOf.flatMap((each) => nodesOf(each, place, depth + 2)),
  ];
}
