import { Id, NextCursor, nameOf, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

/** The rules read it: names are compared without regard to case, and unknown members are ignored. */
export const ResourceBody = Type.Object({}, { additionalProperties: true });

/** A resource of RFC 7643. `GET /scim/v2/Schemas` describes its members. */
export const ScimResource = Type.Object(
  { schemas: Type.Optional(Type.Array(Type.String())), id: Type.Optional(Type.String()) },
  { additionalProperties: true },
);

/** RFC 7644 §3.4.2, RFC 9865 §2. */
export const ResourceList = Type.Object({
  schemas: Type.Array(Type.String()),
  totalResults: Type.Integer(),
  startIndex: Type.Optional(Type.Integer()),
  itemsPerPage: Type.Integer(),
  nextCursor: Type.Optional(Type.String()),
  Resources: Type.Array(ScimResource),
});

export const ResourcePath = Type.Object({ id: Id });

const text = Type.Optional(Type.String());

export const FilterQuery = Type.Object({ filter: text });

/** The attributes that a client wants to see: names with commas in between. */
export const ViewQuery = Type.Object({ attributes: text, excludedAttributes: text });

/** Numbers are texts here, because their faults have names of their own in SCIM. */
export const SearchQuery = Type.Object({
  ...ViewQuery.properties,
  filter: text,
  startIndex: text,
  count: text,
  cursor: text,
  sortBy: text,
  sortOrder: text,
});

/** RFC 7644 §3.7.3. */
export const BulkResponse = Type.Object({
  schemas: Type.Array(Type.String()),
  Operations: Type.Array(
    Type.Object({
      method: Type.String(),
      bulkId: Type.Optional(Type.String()),
      location: Type.Optional(Type.String()),
      version: Type.Optional(Type.String()),
      status: Type.String(),
      response: Type.Optional(ScimResource),
    }),
  ),
});

const NullableTime = Type.Union([Time, Type.Null()]);

export type NewScimToken = Static<typeof NewScimToken>;
export const NewScimToken = Type.Object(
  { label: nameOf(100), expiresAt: Type.Optional(Time) },
  { additionalProperties: false },
);

export type ScimToken = Static<typeof ScimToken>;
export const ScimToken = Type.Object({
  id: Id,
  label: Type.String(),
  createdAt: Time,
  lastUsedAt: NullableTime,
  expiresAt: NullableTime,
});

export type CreatedScimToken = Static<typeof CreatedScimToken>;
export const CreatedScimToken = Type.Object({ ...ScimToken.properties, token: Type.String() });

export const ScimTokenPath = Type.Object({ id: Id });

export type ScimTokenQuery = Static<typeof ScimTokenQuery>;
export const ScimTokenQuery = Type.Object(pageQuery('scimtok'));

export type ScimTokenPage = Static<typeof ScimTokenPage>;
export const ScimTokenPage = Type.Object({ tokens: Type.Array(ScimToken), nextCursor: NextCursor });
