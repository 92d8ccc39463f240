import fc from 'fast-check';
import type { Shape } from '../../src/platform/http/routes/taken-shapes.ts';
import { HOSTILE_TEXTS } from './hostile.ts';

/** Stands for a value that the service gave out under this name. The run chooses the value. */
export class Known {
  readonly name: string;
  readonly pick: number;
  constructor(name: string, pick: number) {
    this.name = name;
    this.pick = pick;
  }
}

const known = (name: string) => fc.nat(7).map((pick) => new Known(name, pick));

/** Fields for values that the service gave out: ids, secrets and cursors. */
const GIVEN_OUT = /(Id|Did)$|^(jti|token|code|refreshToken|ticket|cursor)$/;

const jwk = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
}; // RFC 7517, appendix A.1

/**
 * Values that mean something to the service, which a shape cannot say. Other fields get a value of their
 * shape.
 */
const MEANINGFUL: Readonly<Record<string, readonly unknown[]>> = {
  principalId: ['user_42', 'user_7', 'https://id.acme.test/u/1'],
  scopes: [['calendar:read'], ['calendar:read', 'email:send'], ['tool:gmail:read'], ['*', 'tool:*:admin']],
  requiredScopes: [['calendar:read'], ['email:send'], []],
  redirectUri: ['https://app.acme.test/callback'],
  redirectUris: [['https://app.acme.test/callback'], []],
  purpose: ['payments.payout', 'x-acme.review'],
  authorizationDetails: [[], [{ type: 'urn:service:tools:v1', connector: 'gmail', tools: ['search'] }]],
  publicKeyJwk: [jwk, null],
  consentKeys: [[jwk], []],
  amount: ['0.5', 0.1, '12.3456', '0', -1],
  initialBudget: ['100', 99.5, '0.0001'],
  effect: ['allow'], // a denial without conditions would refuse what comes after it
  currency: ['USD', 'EUR'],
  domain: ['acme.test', 'a.acme.test', 'münchen.test'],
  email: ['owner@acme.test', null],
  action: ['flight.booked', 'mail.sent'],
  file: ['consent.css', 'swagger-ui.css', 'docs.js'],
  metadata: [{}, { flight: 'BH 42', nested: { list: [1, 'two', null] } }],
};

/** A value of this shape. Most often it means something under this name. */
export function valueLike(schema: Shape, name = ''): fc.Arbitrary<unknown> {
  const shaped = shapedBy(schema, name);
  const meant = MEANINGFUL[name];
  return fc.oneof(
    { weight: 1, arbitrary: shaped },
    ...(meant ? [{ weight: 4, arbitrary: fc.constantFrom(...meant) }] : []),
    ...(GIVEN_OUT.test(name) ? [{ weight: 9, arbitrary: known(name) }] : []),
  );
}

function shapedBy(schema: Shape, name: string): fc.Arbitrary<unknown> {
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((each) => shapedBy(each, name)));
  const { items = {}, minItems = 0, maxItems = 5, minimum = 0, maximum = minimum + 1_000 } = schema;
  switch (schema.type) {
    case 'string':
      return textOf(schema);
    case 'integer':
    case 'number':
      return fc.integer({ min: minimum, max: Math.min(maximum, minimum + 1_000) });
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'array':
      return fc.array(valueLike(items), { minLength: minItems, maxLength: Math.min(maxItems, minItems + 4) });
    case 'object':
      return objectOf(schema);
    default:
      return fc.jsonValue({ maxDepth: 2 });
  }
}

/** All required members and at most two others, because many others only go with each other. */
export function objectOf(schema: Shape): fc.Arbitrary<object> {
  const { properties = {}, additionalProperties: others, propertyNames } = schema;
  const values = Object.entries(properties).map(([name, each]) =>
    valueLike(each, name).map((value) => [name, value] as const),
  );
  const demanded = demandedBy(schema);
  const optional = Object.keys(properties).filter((name) => !demanded.includes(name));
  const free = typeof others === 'object' ? valueLike(others) : fc.jsonValue({ maxDepth: 1 });
  const names = propertyNames ? textOf(propertyNames) : fc.string({ maxLength: 12 });
  const extra = others ? fc.dictionary(names, free, { maxKeys: 2 }) : fc.constant({});
  return fc
    .tuple(fc.tuple(...values), fc.subarray(optional, { maxLength: Math.min(2, optional.length) }), extra)
    .map(([all, chosen, more]) => ({
      ...more,
      ...Object.fromEntries(all.filter(([name]) => demanded.includes(name) || chosen.includes(name))),
    }));
}

/** The members that a request must send. The service fills in the other required members. */
export const demandedBy = ({ properties = {}, required = [] }: Shape): readonly string[] =>
  required.filter((name) => properties[name]?.default === undefined);

/** Nearly always has the shape. The rest make broken requests. */
function textOf({ pattern, format, minLength = 0, maxLength = 256 }: Shape): fc.Arbitrary<string> {
  if (format === 'date-time') return fc.constantFrom('2026-01-01T00:00:00Z', '2026-01-01T12:30:00.5+02:00');
  if (pattern?.includes('[smhd]')) return fc.constantFrom('60s', '5m', '1h', '1d', '30d', '9999999999d');
  const longest = pattern ? maxLength : Math.min(maxLength, minLength + 40);
  return matching(pattern).map((text) => text.slice(0, longest).padEnd(minLength, 'x'));
}

function matching(pattern: string | undefined): fc.Arbitrary<string> {
  const any = fc.oneof(fc.string(), fc.string({ unit: 'grapheme' }), fc.constantFrom(...HOSTILE_TEXTS));
  try {
    return pattern === undefined ? any : fc.stringMatching(new RegExp(pattern));
  } catch {
    return any; // fast-check makes no text for a pattern with lookahead
  }
}
