-- Owner: bundles. Policies as code for a decision point of the operator. The service stores and serves them, and never
-- runs them.
create type bundle_format as enum ('rego', 'cedar');
create table policy_bundles (
  developer_id text not null references developers,
  id           text collate "C" not null,
  format       bundle_format not null,
  version      text not null,
  sha256       text not null check (sha256 ~ '^[0-9a-f]{64}$'),
  file_count   integer not null check (file_count between 1 and 1000),
  content      bytea not null check (octet_length(content) between 1 and 5242880),
  active       boolean not null,
  created_at   timestamptz not null,
  primary key (developer_id, id)
);
create unique index policy_bundles_version on policy_bundles (developer_id, format, version);
-- One bundle of a format is active.
create unique index policy_bundles_active on policy_bundles (developer_id, format) where active;

-- Owner: bundles. The sealed secret with which a Git host signs what it tells of a developer's repository.
create table policy_sync_secrets (
  developer_id text primary key references developers,
  secret       bytea not null,
  -- The key that sealed it.
  seal_key_id  text not null,
  created_at   timestamptz not null
);
