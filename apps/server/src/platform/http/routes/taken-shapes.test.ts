import { nameOf, recordOf, Time } from '@behest/protocol/shapes';
import { type TSchema, Type } from 'typebox';
import { expect, test } from 'vitest';
import { faultsOfShapes } from './taken-shapes.ts';

const closed = { additionalProperties: false };
const faultsOf = (schema: object, method = 'POST', url = '/v1/things/:id') =>
  faultsOfShapes({ method, url, schema, handler: () => {} });
const faultsOfField = (field: TSchema, method?: string) =>
  faultsOf({ body: Type.Object({ field }, closed) }, method);

test('a shape without a trap has no fault', () => {
  const body = Type.Object(
    {
      name: nameOf(20),
      since: Type.Optional(Time),
      size: Type.Integer({ minimum: 1, default: 1 }),
      notes: Type.Object({}, { additionalProperties: true }),
      tools: recordOf(Type.String({ maxLength: 8 }), Type.Array(Type.Boolean(), { maxItems: 3 })),
      key: Type.Union([Type.Object({ kty: Type.Literal('EC') }, closed), Type.Null()]),
      anything: Type.Unknown(),
    },
    closed,
  );
  const querystring = Type.Object({
    status: Type.Enum(['on', 'off']),
    limit: Type.Integer({ minimum: 1 }),
  });

  expect(faultsOf({ body, querystring, params: Type.Object({ id: Type.String() }) })).toEqual([]);
});

test.each<[string, TSchema, string]>([
  ['an open object', Type.Object({}), 'body.field does not say whether it takes members'],
  ['an open object in a list', Type.Array(Type.Object({})), 'body.field[] does not say'],
  ['an open object in a choice', Type.Union([Type.Null(), Type.Object({})]), 'body.field does not say'],
  ['an open object in a record', recordOf(Type.String(), Type.Object({})), 'body.field.* does not say'],
  ['a record of TypeBox', Type.Record(Type.String(), Type.String()), 'body.field does not say'],
  [
    'a closed record of TypeBox',
    Type.Record(Type.String(), Type.String(), closed),
    'body.field has patternProperties, which nothing looks at there',
  ],
  ['a misspelt bound', Type.String({ maxlength: 3 }), 'body.field has maxlength'],
  ['the bound of another type', Type.Integer({ maxLength: 3 }), 'body.field has maxLength'],
  ['a trimmed text in a list', Type.Array(nameOf(3)), 'body.field[] has trim'],
  ['a default in a list', Type.Array(Type.Integer({ default: 1 })), 'body.field[] has default'],
  ['an unknown format', Type.String({ format: 'colour' }), 'body.field has the format colour'],
  ['half a pattern', Type.String({ pattern: '^[a-z]+' }), 'body.field has a pattern'],
  ['a number of another kind', Type.BigInt(), 'body.field is of the type bigint'],
  ['an optional field with a default', Type.Optional(Type.String({ default: '' })), 'body.field is optional'],
  [
    'a default that does not fit',
    Type.Integer({ default: '1' }),
    'body.field has a default that it would refuse',
  ],
])('%s is found', (_what, field, fault) => {
  expect(faultsOfField(field)).toEqual([expect.stringContaining(fault)]);
});

test('a default in a change is found, and so is an undefined default', () => {
  expect(faultsOfField(Type.Integer({ default: 1 }))).toEqual([]);
  expect(faultsOfField(Type.Integer({ default: 1 }), 'PATCH')).toEqual([
    expect.stringContaining('body.field has a default, so that a change of something else sets it'),
  ]);
  expect(faultsOfField(Type.Optional(Type.String({ default: undefined })))).toHaveLength(1);
});

test.each<[string, TSchema]>([
  ['a switch', Type.Boolean()],
  ['a list', Type.Array(Type.String())],
  ['a choice', Type.Union([Type.Integer(), Type.Null()])],
  ['a number in a choice', Type.Enum([1, 2])],
])('%s in a query or a path is found, because both are only text', (_what, field) => {
  const part = Type.Object({ field });

  expect(faultsOf({ querystring: part, params: part }, 'GET', '/v1/things/:field')).toEqual([
    'query.field is not read from text',
    'path.field is not read from text',
  ]);
});

test('a body that is not an object is found', () => {
  expect(faultsOf({ body: Type.Array(Type.String()) })).toEqual(['body is not an object']);
});

test('a body that is never read is found', () => {
  const body = Type.Object({}, closed);

  for (const method of ['POST', 'PUT', 'PATCH']) expect(faultsOf({ body }, method)).toEqual([]);
  for (const method of ['GET', 'DELETE']) expect(faultsOf({ body }, method)).toEqual(['body is never read']);
});

test('a path that declares other names than it has is found', () => {
  const params = Type.Object({ id: Type.String() });

  expect(faultsOf({ params }, 'GET', '/v1/things/:thingId')).toEqual(['path has thingId and declares id']);
  expect(faultsOf({ params }, 'GET', '/v1/things/:id/parts/:partId')).toHaveLength(1);
});
