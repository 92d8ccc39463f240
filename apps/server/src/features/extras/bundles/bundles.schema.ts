import { Id, NextCursor, pageQuery, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

const Format = Type.Enum(['rego', 'cedar']);
const Version = Type.String({ minLength: 1, maxLength: 64, pattern: '^[!-~]+$' });
const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });
const LONGEST_CONTENT = 6_990_508; // characters of 5 MiB in base64

export type NewPolicyBundle = Static<typeof NewPolicyBundle>;
export const NewPolicyBundle = Type.Object(
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

export type PolicyBundleSync = Static<typeof PolicyBundleSync>;
export const PolicyBundleSync = Type.Object({
  bundleId: Id,
  format: Format,
  version: Type.String(),
  sha256: Type.String(),
  fileCount: Type.Integer(),
  activated: Type.Boolean(),
});

export type PolicyBundle = Static<typeof PolicyBundle>;
export const PolicyBundle = Type.Object({
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

export type PolicyBundlePage = Static<typeof PolicyBundlePage>;
export const PolicyBundlePage = Type.Object({ bundles: Type.Array(PolicyBundle), nextCursor: NextCursor });

export type PolicySyncSecret = Static<typeof PolicySyncSecret>;
export const PolicySyncSecret = Type.Object({ secret: Type.String() });

export const PushQuery = Type.Object({ dev: Type.Optional(Id) });
export type Push = Static<typeof Push>;
export const Push = Type.Object({}, { additionalProperties: true });

const NameOrNull = Type.Union([Type.String(), Type.Null()]);
export type PolicyPushReceipt = Static<typeof PolicyPushReceipt>;
export const PolicyPushReceipt = Type.Object({
  message: Type.String(),
  ref: NameOrNull,
  repository: NameOrNull,
});
