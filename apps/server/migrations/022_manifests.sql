-- Owner: manifests. The connectors of a developer that have a manifest. `looks` is the name as a reader may take it for
-- another. `revision` numbers the versions of one connector, also of those from before a deletion, and never repeats.
create table manifests (
  developer_id text not null references developers,
  connector    text collate "C" not null,
  looks        text not null,
  revision     integer not null check (revision > 0),
  version      text not null,
  sha256       text not null,
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (developer_id, connector)
);
-- Finds the connectors that look like a new one.
create index manifests_looks on manifests (developer_id, looks);

-- Owner: manifests. Versions of manifests, which do not change. `manifest` is `json`, because people are shown its
-- tools and rules in their order. `pins` has the hashes of older versions, each with the tools that are wider here.
create table manifest_versions (
  developer_id text not null,
  connector    text collate "C" not null,
  revision     integer not null,
  version      text not null,
  sha256       text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  manifest     json not null,
  pins         json not null,
  created_at   timestamptz not null,
  primary key (developer_id, connector, revision)
);

-- `warn` lets a call of `POST /v1/enforce` pass caps and be told so.
create type caps_mode as enum ('enforce', 'warn');
-- The effect of a manifest that has become wider than the one under which a person agreed.
create type manifest_pinning as enum ('off', 'warn', 'enforce');
alter table developers
  add column caps_mode        caps_mode not null default 'enforce',
  add column manifest_pinning manifest_pinning not null default 'warn';

-- The manifests under which a person agreed, `{"mode", "pins": [{"connector", "version", "sha256"}]}`: set with the
-- approval, copied into the grant, and inherited by grants that are delegated from it.
alter table auth_requests add column manifests jsonb;
alter table grants add column manifests jsonb;
