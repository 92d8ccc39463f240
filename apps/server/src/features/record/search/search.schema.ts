import { type Static, Type } from 'typebox';

const Kind = Type.Enum([
  'agent',
  'grant',
  'token',
  'request',
  'decision',
  'entry',
  'principal',
  'key',
  'policy',
  'webhook',
  'delivery',
  'credential',
  'anomaly',
  'approver',
  'connection',
  'user',
]);
export type Kind = Static<typeof Kind>;

export type SearchQuery = Static<typeof SearchQuery>;
export const SearchQuery = Type.Object({
  /** An id of any kind, a DID of an agent, the id of a request, or the beginning of a name or of a principal's id. */
  q: Type.String({ minLength: 1, maxLength: 256, pattern: '^[^\\u0000-\\u001f\\u007f-\\u009f]*$' }),
});

export type SearchResults = Static<typeof SearchResults>;
export const SearchResults = Type.Object({
  /** At most 20, an exact id first. */
  results: Type.Array(
    Type.Object({
      kind: Kind,
      id: Type.String(),
      /** A name, or what stands for one. */
      title: Type.String(),
      /** What tells it from others: a status, a principal, an action. */
      hint: Type.String(),
    }),
    { maxItems: 20 },
  ),
});
