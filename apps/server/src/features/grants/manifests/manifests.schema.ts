import { Id, NextCursor, Time } from '@behest/protocol/shapes';
import { type Static, Type } from 'typebox';

/** The loader of manifests checks it and names the first fault, in the words that every tool uses. */
export type NewManifest = Static<typeof NewManifest>;
export const NewManifest = Type.Object({}, { additionalProperties: true });

const Sha256 = Type.String({ pattern: '^[0-9a-f]{64}$' });

/** `sha256` is the hash of the manifest in full object form, without `version` and `description`. */
const summary = {
  connector: Type.String(),
  version: Type.String(),
  sha256: Sha256,
};

const members = {
  ...summary,
  /** Older versions by their hashes, each with the tools that are new or wider in this one. */
  pins: Type.Array(Type.Object({ sha256: Sha256, wider: Type.Array(Type.String()) })),
  /** As it was put. */
  manifest: Type.Object({}, { additionalProperties: true }),
  createdAt: Time,
  updatedAt: Time,
};

export type ConnectorManifest = Static<typeof ConnectorManifest>;
export const ConnectorManifest = Type.Object(members);

export type ManifestWithWarnings = Static<typeof ManifestWithWarnings>;
export const ManifestWithWarnings = Type.Object({
  ...members,
  warnings: Type.Array(Type.Object({ code: Type.Literal('similar_connector'), connector: Type.String() })),
});

export const ManifestPath = Type.Object({ connector: Id });

export type ManifestQuery = Static<typeof ManifestQuery>;
export const ManifestQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 500, default: 100 }),
  /** The connector of the page's last manifest. */
  cursor: Type.Optional(Type.String({ pattern: '^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$' })),
});

/** What the manifest of a connector was after a change. */
export type ManifestVersion = Static<typeof ManifestVersion>;
export const ManifestVersion = Type.Object({
  /** Counts the versions of a connector. */
  revision: Type.Integer(),
  version: Type.String(),
  sha256: Sha256,
  /** Who registered it, as the audit log names them. Null for versions from before that was kept. */
  actor: Type.Union([Type.String(), Type.Null()]),
  createdAt: Time,
  /** As it was put. */
  manifest: Type.Object({}, { additionalProperties: true }),
});

export type ManifestVersionQuery = Static<typeof ManifestVersionQuery>;
export const ManifestVersionQuery = Type.Object({
  limit: Type.Integer({ minimum: 1, maximum: 50, default: 50 }),
  /** The revision before which the page begins. */
  cursor: Type.Optional(Type.String({ pattern: '^[1-9][0-9]{0,8}$' })),
});

export type ManifestVersionPage = Static<typeof ManifestVersionPage>;
export const ManifestVersionPage = Type.Object({
  versions: Type.Array(ManifestVersion),
  nextCursor: NextCursor,
});

export type ManifestPage = Static<typeof ManifestPage>;
export const ManifestPage = Type.Object({
  manifests: Type.Array(Type.Object({ ...summary, updatedAt: Time })),
  nextCursor: NextCursor,
});
