-- Owner: policies. Standing rules of a developer, which deny or allow grants before a person is asked. The rows of a
-- developer are evaluated in the order of `policies_order`: at one priority, denials come first, as in their type, and
-- allowances last. `require_approval` leaves the decision to a person. Times of day are minutes of the day. A condition
-- that is null holds always.
create type policy_effect as enum ('deny', 'require_approval', 'allow');
create table policies (
  developer_id   text not null references developers,
  id             text collate "C" not null,
  name           text not null,
  effect         policy_effect not null,
  priority       integer not null check (priority between -1000000 and 1000000),
  agent_id       text,
  principal_id   text,
  scopes         text[] check (cardinality(scopes) between 1 and 100),
  day_start      smallint check (day_start between 0 and 1439),
  day_end        smallint check (day_end between 0 and 1439),
  version        integer not null check (version > 0),
  created_at     timestamptz not null,
  updated_at     timestamptz not null,
  purposes       text[] check (cardinality(purposes) between 1 and 100),
  -- IPv4 and IPv6 networks of the caller.
  networks       text[] check (cardinality(networks) between 1 and 100),
  -- A name of the IANA database, in whose local time the days and the times of day are; null is UTC.
  time_zone      text,
  days_of_week   text[] check (cardinality(days_of_week) between 1 and 7),
  depth_min      smallint check (depth_min between 0 and 255),
  depth_max      smallint check (depth_max between 0 and 255),
  -- Conditions on the call of a tool.
  connector      text,
  tools          text[] check (cardinality(tools) between 1 and 100),
  argument_rules jsonb,
  primary key (developer_id, id),
  check ((day_start is null) = (day_end is null) and day_start is distinct from coalesce(day_end, -1)),
  check (time_zone is null or day_start is not null or days_of_week is not null),
  check (depth_min <= depth_max),
  check (connector is not null or (tools is null and argument_rules is null))
);
-- GET /v1/policies, and the order of evaluation.
create index policies_order on policies (developer_id, priority desc, effect, created_at, id);

-- Owner: policies. The number of changes of a developer's policies: processes keep policies in memory under it, and the
-- transaction that a decision lets pass compares it. A developer who never had a policy has no row.
create table policy_versions (
  developer_id text primary key references developers,
  version      bigint not null check (version > 0)
);

-- Owner: policies. What a policy was after each change, on the wire's names of its fields, and who made the change.
-- `principal_id` repeats that of the policy, for the export of a person's data.
create table policy_revisions (
  developer_id text not null,
  policy_id    text collate "C" not null,
  version      integer not null check (version > 0),
  policy       jsonb not null,
  principal_id text,
  actor        text,
  created_at   timestamptz not null,
  -- The newest version of a policy that names an erased person. It goes with the next change of the policy.
  is_erased    boolean not null default false,
  primary key (developer_id, policy_id, version)
);
-- Versions whose policy named a person, who may ask for them or be erased.
create index policy_revisions_principal on policy_revisions (developer_id, principal_id)
  where principal_id is not null;

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
-- One bundle of a format is active.
create unique index policy_bundles_active on policy_bundles (developer_id, format) where active and format is not null;
create unique index policy_bundles_version on policy_bundles (developer_id, format, version) where format is not null;

-- Owner: bundles. The sealed secret with which a Git host signs what it tells of a developer's repository.
create table policy_sync_secrets (
  developer_id text primary key references developers,
  secret       bytea not null,
  -- The key that sealed it.
  seal_key_id  text not null,
  created_at   timestamptz not null
);

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
create index manifests_looks on manifests (developer_id, looks) where looks is not null;

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
  -- Who registered the version.
  actor        text,
  primary key (developer_id, connector, revision)
);

-- Owner: enforcement. Calls whose units the caps meter has taken, for the words `sent` and `refund` that follow. A call
-- id is of one agent, because a bound key must not speak of the calls of other agents.
create table enforced_calls (
  developer_id text not null,
  call_id      text not null,
  agent_id     text not null,
  grant_id     text not null,
  created_at   timestamptz not null,
  primary key (developer_id, call_id, agent_id)
);
-- Finds the calls about which nothing more can be said, across tenants and the oldest first.
create index enforced_calls_old on enforced_calls (created_at);
