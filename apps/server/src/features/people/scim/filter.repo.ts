import { type RawBuilder, type SqlBool, sql } from 'kysely';
import type { Attribute } from './attributes.rules.ts';
import type { Bound, Test } from './bind.rules.ts';

type Sql = RawBuilder<unknown>;

/** Where the attributes of a kind of resource are. Names are paths such as `meta.created`. */
export interface Source {
  /** The column of an attribute with one value. All others are in `document`. */
  readonly columns: Readonly<Record<string, Sql>>;
  /** Arrays of JSON that are made of other tables. */
  readonly arrays: Readonly<Record<string, Sql>>;
  readonly document: Sql;
  /** Looks up by an index whether an attribute has this value. */
  readonly lookUps: Readonly<Record<string, (value: string) => RawBuilder<SqlBool>>>;
}

/** A filter as a condition. Its values are bound parameters. `null` counts as false. */
export const conditionOf = (bound: Bound, source: Source): RawBuilder<SqlBool> => {
  switch (bound.kind) {
    case 'and':
      return sql`(${conditionOf(bound.left, source)} and ${conditionOf(bound.right, source)})`;
    case 'or':
      return sql`(${conditionOf(bound.left, source)} or ${conditionOf(bound.right, source)})`;
    case 'not':
      return sql`(${conditionOf(bound.filter, source)}) is not true`;
    case 'any':
      return anyOf(bound, source);
    case 'constant':
      return sql<SqlBool>`${bound.passes}::boolean`;
    case 'test':
      return testOf(bound, source.columns[bound.path.join('.')] ?? inDocument(source.document, bound));
  }
};

function anyOf({ path, filter }: Extract<Bound, { kind: 'any' }>, source: Source): RawBuilder<SqlBool> {
  const name = path.join('.');
  const values = source.arrays[name] ?? sql`${source.document} #> ${[...path]}::text[]`;
  const within: Source = { columns: {}, arrays: {}, document: sql`each.value`, lookUps: {} };
  const passing = filter ? conditionOf(filter, within) : sql<SqlBool>`true`;
  const some = sql<SqlBool>`exists (select from jsonb_array_elements(${values}) as each (value) where ${passing})`;
  const [lookUp, wanted] = [source.lookUps[name], filter && wantedValue(filter)];
  return lookUp && wanted !== undefined ? sql`(${lookUp(wanted)} and ${some})` : some;
}

/** The `value` that passing values have. */
function wantedValue(bound: Bound): string | undefined {
  if (bound.kind === 'and') return wantedValue(bound.left) ?? wantedValue(bound.right);
  const isWanted = bound.kind === 'test' && bound.op === 'eq' && bound.path.join('.') === 'value';
  return isWanted && typeof bound.value === 'string' ? bound.value : undefined;
}

function inDocument(document: Sql, { attribute, path }: Test): Sql {
  if (attribute.type === 'complex') return sql`(${document} #> ${[...path]}::text[])`;
  const text = sql`(${document} #>> ${[...path]}::text[])`;
  return attribute.type === 'boolean' ? sql`${text}::boolean` : text;
}

function testOf({ attribute, op, value }: Test, found: Sql): RawBuilder<SqlBool> {
  const isText = attribute.type === 'string' || attribute.type === 'reference';
  if (op === 'pr') return isText ? sql`${found} <> ''` : sql`${found} is not null`;
  if (op === 'absent') return isText ? sql`(${found} <> '') is not true` : sql`${found} is null`;
  const [one, other] = isText
    ? [folded(attribute, found), folded(attribute, boundAs('string', value))]
    : [found, boundAs(attribute.type, value)];
  switch (op) {
    case 'eq':
      return sql`${one} = ${other}`;
    case 'ne':
      return sql`${one} is distinct from ${other}`;
    case 'co':
      return sql`strpos(${one}, ${other}) > 0`;
    case 'sw':
      return sql`starts_with(${one}, ${other})`;
    case 'ew':
      return sql`right(${one}, length(${other})) = ${other}`;
    case 'gt':
      return sql`${ordered(attribute, one)} > ${other}`;
    case 'ge':
      return sql`${ordered(attribute, one)} >= ${other}`;
    case 'lt':
      return sql`${ordered(attribute, one)} < ${other}`;
    case 'le':
      return sql`${ordered(attribute, one)} <= ${other}`;
  }
}

/** A bound parameter of the type that an attribute has in a statement. */
export const boundAs = (type: Attribute['type'], value: Test['value']): Sql => {
  if (type === 'boolean') return sql`${value}::boolean`;
  return type === 'dateTime' ? sql`${value}::timestamptz` : sql`${value}::text`;
};

const folded = ({ caseExact }: Attribute, text: Sql): Sql => (caseExact ? text : sql`lower(${text})`);

/** Texts are ordered by their characters' numbers, as the standard leaves it to the service. */
const ordered = ({ type }: Attribute, value: Sql): Sql =>
  type === 'dateTime' ? value : sql`${value} collate "C"`;

/** The value by which a list is sorted. */
export const orderOf = (source: Source, path: readonly string[], attribute: Attribute): Sql => {
  const about = { kind: 'test', attribute, path, op: 'pr', value: '', folded: '' } as const;
  const found = source.columns[path.join('.')] ?? inDocument(source.document, about);
  if (attribute.type === 'boolean' || attribute.type === 'dateTime') return found;
  return sql`${folded(attribute, found)} collate "C"`;
};
