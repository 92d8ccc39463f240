import { Audience, Id, NextCursor, nameOf, pageQuery, recordOf, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Scopes = Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100 });
const Connectors = Type.Array(Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$' }), {
  maxItems: 100,
});
const LoginUrl = Type.Union([Type.String({ minLength: 1, maxLength: 2048 }), Type.Null()]);
const TokenTtl = { minimum: 60, maximum: 86_400 };

const Title = Type.String({ minLength: 1, maxLength: 80 });
const Description = Type.String({ minLength: 1, maxLength: 300 });
const Translation = Type.Object(
  { title: Type.Optional(Title), description: Type.Optional(Description) },
  { additionalProperties: false, minProperties: 1 },
);

/** What people read about a scope that the service has no words for. Other languages may have a part of it. */
export type ScopeWords = Static<typeof ScopeWords>;
export const ScopeWords = Type.Object(
  {
    title: Title,
    description: Type.Optional(Description),
    titles: Type.Optional(recordOf(Type.String({ maxLength: 16 }), Translation, { maxProperties: 20 })),
  },
  { additionalProperties: false },
);
const WordsByScope = recordOf(Type.String({ minLength: 1, maxLength: 256 }), ScopeWords, {
  maxProperties: 100,
});

export type NewResource = Static<typeof NewResource>;
export const NewResource = Type.Object(
  {
    resource: Audience,
    name: nameOf(200),
    scopes: Type.Array(Type.String({ minLength: 1, maxLength: 256 }), { maxItems: 100, default: [] }),
    /** By scope, 32 KiB of JSON together. */
    scopeWords: Type.Optional(WordsByScope),
    /** The connectors that it serves; null, as an empty list, for any. */
    connectors: Type.Union([Connectors, Type.Null()], { default: null }),
    loginUrl: Type.Optional(LoginUrl),
    dpopRequired: Type.Boolean({ default: false }),
    tokenTtlSeconds: Type.Integer({ ...TokenTtl, default: 3600 }),
  },
  { additionalProperties: false },
);

export type ResourceChange = Static<typeof ResourceChange>;
export const ResourceChange = Type.Object(
  {
    name: Type.Optional(nameOf(200)),
    scopes: Type.Optional(Scopes),
    /** Replaces all of them. */
    scopeWords: Type.Optional(WordsByScope),
    connectors: Type.Optional(Type.Union([Connectors, Type.Null()])),
    loginUrl: Type.Optional(LoginUrl),
    dpopRequired: Type.Optional(Type.Boolean()),
    tokenTtlSeconds: Type.Optional(Type.Integer(TokenTtl)),
  },
  { additionalProperties: false, minProperties: 1 },
);

const members = {
  id: Id,
  resource: Type.String(),
  name: Type.String(),
  scopes: Type.Array(Type.String()),
  scopeWords: WordsByScope,
  connectors: Type.Array(Type.String()),
  /** The page at which the developer's application signs the person in. */
  loginUrl: Type.Union([Type.String(), Type.Null()]),
  dpopRequired: Type.Boolean(),
  tokenTtlSeconds: Type.Integer(),
  createdAt: Time,
  updatedAt: Time,
};
export type Resource = Static<typeof Resource>;
export const Resource = Type.Object(members);

/** The only answer with the credential. */
export type CreatedResource = Static<typeof CreatedResource>;
export const CreatedResource = Type.Object({ ...members, credential: Type.String() });

export const ResourcePath = Type.Object({ id: Id });

export type ResourceQuery = Static<typeof ResourceQuery>;
export const ResourceQuery = Type.Object(pageQuery('res'));

export type ResourcePage = Static<typeof ResourcePage>;
export const ResourcePage = Type.Object({ resources: Type.Array(Resource), nextCursor: NextCursor });
