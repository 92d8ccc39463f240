import { Id, NextCursor, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Format = Type.Enum(['rego', 'cedar']);
const Version = Type.String({ minLength: 1, maxLength: 64, pattern: '^[!-~]+$' });
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const LONGEST_CONTENT = 6_990_508; // characters of 5 MiB in base64

export type NewBundle = Static<typeof NewBundle>;
export const NewBundle = Type.Object(
  {
    format: Format,
    version: Version,
    content: Type.String({ minLength: 1, maxLength: LONGEST_CONTENT }),
    fileCount: Type.Integer({ minimum: 1, maximum: 1000, default: 1 }),
    activate: Type.Boolean({ default: true }),
    /** The digest that the content has to have. */
    sha256: Type.Optional(Sha256),
  },
  { additionalProperties: false },
);

export type SyncedBundle = Static<typeof SyncedBundle>;
export const SyncedBundle = Type.Object({
  bundleId: Id,
  format: Format,
  version: Type.String(),
  sha256: Type.String(),
  fileCount: Type.Integer(),
  activated: Type.Boolean(),
});

export type Bundle = Static<typeof Bundle>;
export const Bundle = Type.Object({
  id: Id,
  developerId: Id,
  format: Format,
  version: Type.String(),
  sha256: Type.String(),
  fileCount: Type.Integer(),
  active: Type.Boolean(),
  createdAt: Time,
});

export type BundleQuery = Static<typeof BundleQuery>;
export const BundleQuery = Type.Object({ ...pageQuery('pbnd'), format: Type.Optional(Format) });

export const ActiveQuery = Type.Object({ format: Format });
export const BundlePath = Type.Object({ id: Id });

export const NoFields = Type.Object({}, { additionalProperties: false });

export type BundlePage = Static<typeof BundlePage>;
export const BundlePage = Type.Object({ bundles: Type.Array(Bundle), nextCursor: NextCursor });

export type SyncSecret = Static<typeof SyncSecret>;
export const SyncSecret = Type.Object({ secret: Type.String() });

export const PushQuery = Type.Object({ dev: Type.Optional(Id) });
export type Push = Static<typeof Push>;
export const Push = Type.Object({}, { additionalProperties: true });

const NameOrNull = Type.Union([Type.String(), Type.Null()]);
export type PushTaken = Static<typeof PushTaken>;
export const PushTaken = Type.Object({ message: Type.String(), ref: NameOrNull, repository: NameOrNull });
