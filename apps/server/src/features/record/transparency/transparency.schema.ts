import { Id, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Hash = Type.String({ description: 'SHA-256, in base64 with padding' });
const Nullable = Type.Union([Type.String(), Type.Null()]);
const NullableTime = Type.Union([Time, Type.Null()]);
const Size = Type.Integer({ minimum: 0, maximum: 999_999_999_999_999 });

export type TransparencyState = Static<typeof TransparencyState>;
export const TransparencyState = Type.Object({
  logId: Type.String(),
  origin: Type.String({ description: 'The name of the log, with which each note begins' }),
  url: Type.String({ description: 'Everybody reads the note and the tiles below this address' }),
  vkey: Type.Union([Type.String({ description: 'The public key of the notes' }), Type.Null()]),
  treeSize: Type.Integer(),
  rootHash: Hash,
  signedAt: NullableTime,
  note: Type.Union([Type.String({ description: 'The signed note of this state' }), Type.Null()]),
  mergeDelaySeconds: Type.Integer(),
  halted: Type.Union([Type.String({ description: 'Why nothing is added or signed any more' }), Type.Null()]),
  witnesses: Type.Array(
    Type.Object({
      name: Type.String(),
      treeSize: Type.Integer({ description: 'The size that the witness confirmed last' }),
      cosignedAt: NullableTime,
      error: Type.Union([Type.String({ description: 'Why the last submission failed' }), Type.Null()]),
    }),
  ),
});

export type InclusionQuery = Static<typeof InclusionQuery>;
export const InclusionQuery = Type.Object({
  entryId: Type.Optional(Id),
  seq: Type.Optional(Type.Integer({ minimum: 1, maximum: 999_999_999_999_999 })),
  treeSize: Type.Optional(Size),
});

export type LogInclusion = Static<typeof LogInclusion>;
export const LogInclusion = Type.Object({
  entryId: Id,
  seq: Type.Integer(),
  leafIndex: Type.Integer(),
  treeSize: Type.Integer(),
  rootHash: Hash,
  leafHash: Hash,
  hash: Type.String(),
  parts: Type.Array(Type.String()),
  proof: Type.Array(Hash),
  note: Nullable,
});

export type ConsistencyQuery = Static<typeof ConsistencyQuery>;
export const ConsistencyQuery = Type.Object({ from: Size, to: Type.Optional(Size) });

export type LogConsistency = Static<typeof LogConsistency>;
export const LogConsistency = Type.Object({
  from: Type.Integer(),
  to: Type.Integer(),
  fromRoot: Hash,
  toRoot: Hash,
  proof: Type.Array(Hash),
});

export const LogPath = Type.Object({ logId: Id });
export const TilePath = Type.Object({ logId: Id, path: Type.String() });

export const AccountPath = Type.Object({ id: Id });

export type LogRestart = Static<typeof LogRestart>;
export const LogRestart = Type.Object({
  oldOrigin: Type.String(),
  oldSize: Type.Integer(),
  oldRoot: Hash,
  newOrigin: Type.String(),
});
