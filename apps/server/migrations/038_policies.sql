-- Owner: policies. Standing rules of a developer, which deny or allow grants before a person is asked. The rows of a
-- developer are evaluated in the order of `policies_order`: at one
-- priority, denials come first, as in their type. Times of day are minutes of the day in UTC.
create type policy_effect as enum ('deny', 'allow');
create table policies (
  developer_id text not null references developers,
  id           text collate "C" not null,
  name         text not null,
  effect       policy_effect not null,
  priority     integer not null check (priority between -1000000 and 1000000),
  agent_id     text,
  principal_id text,
  scopes       text[] check (cardinality(scopes) between 1 and 100),
  day_start    smallint check (day_start between 0 and 1439),
  day_end      smallint check (day_end between 0 and 1439),
  version      integer not null check (version > 0),
  created_at   timestamptz not null,
  updated_at   timestamptz not null,
  primary key (developer_id, id),
  check ((day_start is null) = (day_end is null) and day_start is distinct from coalesce(day_end, -1))
);
-- GET /v1/policies, and the order of evaluation.
create index policies_order on policies (developer_id, priority desc, effect, created_at, id);

-- Owner: policies. The number of changes of a developer's policies: processes keep policies in memory under it, and the
-- transaction that a decision lets pass compares it. A developer who never had a policy has no row.
create table policy_versions (
  developer_id text primary key references developers,
  version      bigint not null check (version > 0)
);

-- Whether a policy that lists scopes may decide in a principal's place.
alter table developers add column policy_auto_approval boolean not null default false;
-- The policy that approved, where no person was asked.
alter table auth_requests add column policy_id text;
alter table grants add column policy_id text;
