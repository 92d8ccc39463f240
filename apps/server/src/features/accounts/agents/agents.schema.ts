import { Id, NextCursor, nameOf, PublicJwk, pageQuery, Time, textOf } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Status = Type.Enum(['active', 'suspended', 'revoked']);

/** An agent may also have an Ed25519 key. Its DID document shows the key; no token is signed with it. */
const Ed25519Jwk = Type.Object(
  {
    kty: Type.Literal('OKP'),
    crv: Type.Literal('Ed25519'),
    x: Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' }),
    kid: Type.Optional(Type.String({ pattern: '^[ -~]{1,256}$' })),
    use: Type.Optional(Type.Literal('sig')),
    alg: Type.Optional(Type.Enum(['EdDSA', 'Ed25519'])),
  },
  { additionalProperties: false },
);
export type AgentJwk = Static<typeof AgentJwk>;
const AgentJwk = Type.Union([PublicJwk, Ed25519Jwk]);

const Scopes = Type.Array(Type.String(), { maxItems: 100 }); // their grammar is in the rules

export type NewAgent = Static<typeof NewAgent>;
export const NewAgent = Type.Object(
  {
    name: nameOf(200),
    description: Type.String({ ...textOf(2000), default: '' }),
    scopes: Type.Array(Type.String(), { maxItems: 100, default: [] }),
    publicKeyJwk: Type.Optional(AgentJwk),
  },
  { additionalProperties: false },
);

export type AgentChange = Static<typeof AgentChange>;
export const AgentChange = Type.Object(
  {
    name: Type.Optional(nameOf(200)),
    description: Type.Optional(textOf(2000)),
    scopes: Type.Optional(Scopes),
    status: Type.Optional(Type.Enum(['active', 'suspended'])),
    publicKeyJwk: Type.Optional(Type.Union([AgentJwk, Type.Null()])),
  },
  { additionalProperties: false, minProperties: 1 },
);

/** `agentId` and `id` are equal: some clients read the first, some the second. */
export type Agent = Static<typeof Agent>;
export const Agent = Type.Object({
  agentId: Id,
  id: Id,
  did: Type.String(),
  developerId: Id,
  name: Type.String(),
  description: Type.String(),
  scopes: Type.Array(Type.String()),
  status: Status,
  publicKeyJwk: Type.Union([Type.Object({}, { additionalProperties: true }), Type.Null()]),
  /** `api` for an agent of the developer; otherwise the kind of OAuth client that became one at its first approval. */
  origin: Type.Enum(['api', 'cimd', 'dcr']),
  /** The `client_id` of that client. */
  clientId: Type.Union([Type.String(), Type.Null()]),
  createdAt: Time,
  updatedAt: Time,
});

export const AgentPath = Type.Object({ id: Id });

export type AgentQuery = Static<typeof AgentQuery>;
export const AgentQuery = Type.Object({
  status: Type.Optional(Status),
  /** The beginning of the name, in any case. The list is then in the order of names. */
  name: Type.Optional(Type.String({ minLength: 1, maxLength: 200 })),
  ...pageQuery('ag'),
});

export type AgentPage = Static<typeof AgentPage>;
export const AgentPage = Type.Object({ agents: Type.Array(Agent), nextCursor: NextCursor });

const VerificationMethod = Type.Object({
  id: Type.String(),
  type: Type.Literal('JsonWebKey2020'),
  controller: Type.String(),
  publicKeyJwk: Type.Object({}, { additionalProperties: true }),
});

/** @see https://www.w3.org/TR/did-core/#core-properties */
export type DidDocument = Static<typeof DidDocument>;
export const DidDocument = Type.Object({
  '@context': Type.Array(Type.String()),
  id: Type.String(),
  controller: Type.String(),
  verificationMethod: Type.Array(VerificationMethod),
  authentication: Type.Array(Type.String()),
  assertionMethod: Type.Array(Type.String()),
  service: Type.Array(
    Type.Object({ id: Type.String(), type: Type.String(), serviceEndpoint: Type.String() }),
  ),
});
