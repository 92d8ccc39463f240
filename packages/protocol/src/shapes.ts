import { type Static, type TSchema, type TString, Type } from 'typebox';

/** An id in a path. The service never issued another text, so the answer for it is 404, not 400. */
export const Id = Type.String({ pattern: '^[ -~]{1,256}$' });
/** A time of RFC 3339, without leap seconds, which `Date` cannot hold. */
export const Time = Type.String({ format: 'date-time', pattern: '^.{17}[0-5]' });

/** Control characters and bidirectional overrides, which make a text look like another. */
const NOT_SHOWN = '\\u0000-\\u0009\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069';

/** A name, shown on one line. The service trims it before it checks the length. */
export const nameOf = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: `^[^${NOT_SHOWN}\\n]*$`, trim: true });

/** The same, or null for none. */
export const nullableNameOf = (maxLength: number) =>
  Type.Union([Type.String({ minLength: 1, maxLength, pattern: `^[^${NOT_SHOWN}\\n]*$` }), Type.Null()], {
    trim: true,
  });

/** A text of one or more lines. */
export const textOf = (maxLength: number) => Type.String({ maxLength, pattern: `^[^${NOT_SHOWN}]*$` });

const NOT_IN_EMAIL = '@\\s\\u0000-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069';
/**
 * An address for mail: one `@`, no white space, a dot in the domain. The pattern begins with the length, because it also runs on a
 * text that is over `maxLength`, and the rest of it takes time that grows with the square of the length.
 */
const EMAIL = {
  maxLength: 254,
  pattern: `^(?=[^]{1,254}$)[^${NOT_IN_EMAIL}]+@[^${NOT_IN_EMAIL}]+[.][^${NOT_IN_EMAIL}]+$`,
};
export const Email = Type.String(EMAIL);
/** The service trims it before it checks the form. */
export const TrimmedEmail = Type.String({ ...EMAIL, trim: true });

/**
 * An object with any members whose names and values have these shapes. `Type.Record` does not suffice: a name
 * outside its pattern may have every value, and it keeps only the pattern of the names' shape.
 */
export const recordOf = <Values extends TSchema>(
  names: TString,
  values: Values,
  bounds: { maxProperties?: number } = {},
) =>
  Type.Unsafe<Record<string, Static<Values>>>({
    type: 'object',
    ...bounds,
    propertyNames: names,
    additionalProperties: values,
  });

/** The body of a request that takes no fields. */
export const NoFields = Type.Object({}, { additionalProperties: false });

/** The developer's own id for a person, without control characters. */
export const PrincipalId = Type.String({
  minLength: 1,
  maxLength: 256,
  pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$',
});

/** The name of an upstream in the vault, compared byte for byte. */
export const VaultService = Type.String({ pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$' });

/** The name of a resource that a token is for, such as its URL, without white space. */
/** The longest `state`, which is the client's own: programs keep whole sessions in it. In characters. */
export const LONGEST_STATE = 8192;

export const Audience = Type.String({ minLength: 1, maxLength: 1024, pattern: '^\\S*$' });

/**
 * The query of a list. `limit` is 1 to 500 rows, 100 by default. `cursor` is the `nextCursor` of the page before:
 * the id of its last row, which is a position and gives no rights.
 *
 * @param prefix the prefix of the ids, such as `ag`
 */
export const pageQuery = (prefix: string) => ({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  cursor: Type.Optional(Type.String({ pattern: `^${prefix}_[0-9A-HJKMNP-TV-Z]{26}$` })),
});

/** The cursor of the next page; null on the last page. */
export const NextCursor = Type.Union([Type.String(), Type.Null()]);

/** A list of scopes. The shape does not check their grammar, because a malformed scope is `INVALID_SCOPE`. */
export const ScopeList = Type.Array(Type.String(), { minItems: 1, maxItems: 100 });

/** A duration: `90s`, `30m`, `24h`, `7d`. `parseDuration` reads it. Each field has its own bounds. */
export const Duration = Type.String({ pattern: '^[1-9][0-9]{0,9}[smhd]$' });

/** An amount of money: a decimal text such as `99.5` or `0.000045`, or a number. `readAmount` reads it. */
export const AmountInput = Type.Union([Type.Number(), Type.String({ maxLength: 32 })]);

/** ISO 4217. */
export const Currency = Type.String({ pattern: '^[A-Z]{3}$' });

/** The money that a grant is to have. */
export const BudgetInput = Type.Object(
  { amount: AmountInput, currency: Type.Optional(Currency) },
  { additionalProperties: false },
);

/** The money that a grant got, and what is left of it, with four to nine decimals. */
export const Budget = Type.Object({ amount: Type.String(), remaining: Type.String(), currency: Currency });

const agentProfile = <Text extends TSchema>(text: Text) =>
  Type.Object({ agentName: text, agentDescription: text, agentDid: text });

/** An agent as the pages for people show it. */
export type AgentProfile = Static<typeof AgentProfile>;
export const AgentProfile = agentProfile(Type.String());
/** All members are null after the agent was removed. */
export type NullableAgentProfile = Static<typeof NullableAgentProfile>;
export const NullableAgentProfile = agentProfile(Type.Union([Type.String(), Type.Null()]));

/** How an account wants to be shown on a page, beside its name. */
export type ShownBranding = Static<typeof ShownBranding>;
export const ShownBranding = Type.Object({
  /** A path of the page's own origin. */
  logoUrl: Type.Optional(Type.String()),
  /** "#0b5a68". White text on it can be read. */
  accentColor: Type.Optional(Type.String()),
});

/** A tool in the words of its manifest, which are the developer's own. The level is what the tool needs. */
const toolWords = {
  /** The exact text: the name of the tool. */
  tool: Type.String(),
  level: Type.Union([Type.Enum(['read', 'write', 'delete', 'admin']), Type.Null()]),
  title: Type.Union([Type.String(), Type.Null()]),
  description: Type.Union([Type.String(), Type.Null()]),
  /** The language tag of the words; null for those of the manifest that name no language. */
  language: Type.Union([Type.String(), Type.Null()]),
};

/**
 * A tool, or a pattern such as `lookup_*` with the tools that it covers: the most far-reaching first, and `more` beyond
 * those. The level of a pattern is the highest of all its tools. A name has no title where the manifest has none.
 */
export type ToolInWords = Static<typeof ToolInWords>;
export const ToolInWords = Type.Object({
  connector: Type.String(),
  ...toolWords,
  covers: Type.Array(Type.Object(toolWords)),
  more: Type.Integer(),
});

/** The parameters of a key are numbers in base64url without padding (RFC 7518, section 6). */
const keyNumber = (minLength: number, maxLength = minLength) =>
  Type.String({ minLength, maxLength, pattern: '^[A-Za-z0-9_-]+$' });

const keyUse = {
  kid: Type.Optional(Type.String({ pattern: '^[ -~]{1,256}$' })),
  use: Type.Optional(Type.Literal('sig')),
  // Browsers write `key_ops` and `ext` when they export a key.
  key_ops: Type.Optional(Type.Array(Type.Literal('verify'), { minItems: 1, maxItems: 1 })),
  ext: Type.Optional(Type.Boolean()),
};

/**
 * A public key that may verify: RSA of 2,048 to 16,384 bits, or EC P-256. The shape refuses members that it does
 * not list, hence every private member. It does not check that the numbers make a key; the import of the key does.
 */
export const PublicJwk = Type.Union([
  Type.Object(
    {
      kty: Type.Literal('RSA'),
      n: keyNumber(342, 2_731),
      e: keyNumber(1, 11),
      alg: Type.Optional(Type.Literal('RS256')),
      ...keyUse,
    },
    { additionalProperties: false },
  ),
  Type.Object(
    {
      kty: Type.Literal('EC'),
      crv: Type.Literal('P-256'),
      x: keyNumber(43),
      y: keyNumber(43),
      alg: Type.Optional(Type.Literal('ES256')),
      ...keyUse,
    },
    { additionalProperties: false },
  ),
]);
