import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { denialKeys } from '@behest/protocol/enforcement/sentences';
import { errorCodes, invalidGrantReasons } from '@behest/protocol/errors';
import { Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { expect, test } from 'vitest';
import { Components, laidOut } from './components.ts';
import { resolved } from './resolve.ts';

const FILE = join(import.meta.dirname, '../../../openapi.json');
const text = readFileSync(FILE, 'utf8');
const description = JSON.parse(text);
const { schemas, parameters, responses, examples } = description.components;

interface Media {
  readonly schema: { readonly $ref?: string; readonly type?: string; readonly properties?: object };
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>;
}
type Content = Readonly<Record<string, Media>>;
interface Described {
  readonly operationId: string;
  readonly requestBody?: { readonly content: Content };
  readonly responses: Readonly<Record<string, { readonly content?: Content }>>;
}

/** The bodies and the good JSON answers of all operations. */
function mediaOf({ paths }: { readonly paths: object }) {
  return Object.values(paths)
    .flatMap((verbs) => Object.values<Described>(verbs))
    .flatMap(({ operationId, requestBody, responses: answers }) => {
      const good = Object.entries(answers).filter(([status]) => status < '300');
      return [
        ...Object.values(requestBody?.content ?? {}),
        ...good.flatMap(([, { content = {} }]) => content['application/json'] ?? []),
      ].map((media) => ({ operationId, media }));
    });
}

test('the file is smaller than 1.2 MB', () => {
  expect(Buffer.byteLength(text)).toBeLessThan(1_200_000);
});

test('the nouns of the product, shared parameters and refusals have their names', () => {
  const nouns = ['Agent', 'Grant', 'AuditEntry', 'Webhook', 'Error', 'ErrorCode', 'InvalidGrantReason'];

  expect(Object.keys(schemas)).toEqual(expect.arrayContaining([...nouns, 'ReasonCode', 'SubReason']));
  expect(Object.keys(parameters)).toEqual(expect.arrayContaining(['IdempotencyKey', 'Limit', 'Id']));
  expect(Object.keys(responses)).toEqual(
    expect.arrayContaining(['BadRequest', 'Unauthorized', 'Forbidden', 'NotFound', 'RateLimited']),
  );
});

test('each object that is sent or answered has a name', () => {
  const unnamed = mediaOf(description).filter(
    ({ media: { schema } }) => schema.type === 'object' && Object.keys(schema.properties ?? {}).length > 0,
  );

  expect(unnamed.map(({ operationId }) => operationId)).toEqual([]);
});

test('every part is referred to', () => {
  const referred = new Set([...text.matchAll(/"#\/components\/(\w+\/\w+)"/g)].map(([, part]) => part));
  const parts = Object.entries<object>({ schemas, parameters, responses, examples }).flatMap(([kind, own]) =>
    Object.keys(own).map((name) => `${kind}/${name}`),
  );

  expect(parts.filter((part) => !referred.has(part))).toEqual([]);
});

test('each body and each answer has an example, which has its shape', () => {
  const faults = mediaOf(Object(resolved(description))).flatMap(({ operationId, media }) => {
    const [named] = Object.values(media.examples ?? {});
    const value = named ? named.value : media.example;
    if (value === undefined) return [`${operationId} has no example`];
    const [fault] = Compile(Type.Unsafe(media.schema)).Errors(value);
    return fault ? [`${operationId}: ${fault.instancePath} ${fault.message}`] : [];
  });

  expect(faults).toEqual([]);
});

test('the closed sets of codes and reasons are whole', () => {
  const words = denialKeys.map((key) => key.split('/'));

  expect(schemas.ErrorCode.enum).toEqual(Object.keys(errorCodes));
  expect(schemas.InvalidGrantReason.enum).toEqual(Object.keys(invalidGrantReasons));
  expect(new Set(schemas.ReasonCode.enum)).toEqual(new Set(words.map(([code]) => code)));
  expect(new Set(schemas.SubReason.enum)).toEqual(new Set(words.flatMap(([, sub]) => sub ?? [])));
});

test('a schema that is sent in another form than it is answered has a second name', () => {
  const Profile = Type.Object({ name: Type.String(), isOpen: Type.Boolean({ default: false }) });
  const components = new Components((schema) => (schema === Profile ? 'Profile' : undefined));

  const [sent, answered] = [components.add(Profile, 'input'), components.add(Profile, 'answer')];

  const whole = Object(components.completed({ sent, answered, components: {} }));
  expect(whole.sent).toEqual({ $ref: '#/components/schemas/ProfileInput' });
  expect(whole.answered).toEqual({ $ref: '#/components/schemas/Profile' });
  expect(whole.components.schemas).toMatchObject({
    Profile: { required: ['name', 'isOpen'] },
    ProfileInput: { required: ['name'] },
  });
});

test('two schemas of one name stop the generator', () => {
  const components = new Components((schema) => ('properties' in schema ? 'Channel' : undefined));
  components.add(Type.Object({ url: Type.String() }), 'answer');

  expect(() => components.add(Type.Object({ email: Type.String() }), 'answer')).toThrow('called Channel');
});

test('a short value takes one line, a longer one a line for each member', () => {
  const long = 'x'.repeat(100);

  expect(laidOut({ short: [1, { a: null }], long: [long, { long }] })).toBe(
    `{\n "short":[1,{"a":null}],\n "long":[\n  "${long}",\n  {"long":"${long}"}\n ]\n}\n`,
  );
  expect(JSON.parse(laidOut(description))).toEqual(description);
});
