import { Id, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Coordinate = Type.String({ pattern: '^[A-Za-z0-9_-]{43}$' });

/** The public half of a key for ES256. */
const PublicKey = Type.Object(
  { kty: Type.Literal('EC'), crv: Type.Literal('P-256'), x: Coordinate, y: Coordinate },
  { additionalProperties: false },
);

export type NewVerifier = Static<typeof NewVerifier>;
export const NewVerifier = Type.Object(
  {
    name: Type.String({
      pattern: '^[A-Za-z0-9][A-Za-z0-9_.:/ -]{0,63}$',
      description: 'How statements name the verifier. Several verifiers may have one name.',
    }),
    publicKey: PublicKey,
  },
  { additionalProperties: false },
);

export type Verifier = Static<typeof Verifier>;
export const Verifier = Type.Object({ verifierId: Id, name: Type.String(), createdAt: Time });

export const VerifierPath = Type.Object({ id: Id });

export type Renewal = Static<typeof Renewal>;
export const Renewal = Type.Object(
  {
    position: Type.Optional(
      Type.String({
        maxLength: 1024,
        pattern: '^[A-Za-z0-9_.-]+$',
        description:
          'A compact JWS, signed with the key of the verifier: `typ` `verifier-position+jwt`, claims `iss` (the id of the verifier), `seq`, `hash` and `iat`.',
      }),
    ),
  },
  { additionalProperties: false },
);

const ChainPosition = Type.Object({ seq: Type.Integer(), hash: Type.String() });

export type Lease = Static<typeof Lease>;
export const Lease = Type.Object({
  leaseSeconds: Type.Integer({
    description:
      'How long the verifier may answer from memory, counted from before it sent this request. 0 while it owes a confirmation.',
  }),
  /** What the verifier has to confirm before its lease is renewed. */
  asked: Type.Union([ChainPosition, Type.Null()]),
});

/** How long a revocation waits for verifiers. */
export const waiting = {
  wait: Type.Optional(
    Type.Enum(['confirmed'], {
      description: 'Answer 200 with a signed statement, once every verifier has confirmed or has no lease.',
    }),
  ),
  waitSeconds: Type.Integer({
    minimum: 0,
    maximum: 10,
    default: 10,
    description: 'With `wait`: the longest wait. The statement then says who has not confirmed.',
  }),
};

const StatedVerifier = Type.Object({
  verifierId: Id,
  name: Type.String(),
  state: Type.Enum(['confirmed', 'lapsed', 'unconfirmed'], {
    description:
      '`lapsed`: the verifier has not confirmed, and asks the service at each call. `unconfirmed`: until `at` it may answer from memory.',
  }),
  at: Time,
});

export type RevocationStatement = Static<typeof RevocationStatement>;
export const RevocationStatement = Type.Object({
  grantId: Id,
  revokedAt: Time,
  complete: Type.Boolean({ description: 'Whether no verifier can answer from memory any more.' }),
  position: ChainPosition,
  verifiers: Type.Array(StatedVerifier),
  statement: Type.String({
    description:
      'The same, signed, with the signatures of the verifiers: a JWS with `typ` `revocation-statement+jwt`.',
  }),
});
