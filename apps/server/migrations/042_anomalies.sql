-- Owner: anomalies. How far detection has read each developer's chain. `head` is the last entry that it counted. The
-- next columns are the last entries that have left the windows of these lengths; `one_week` is seven days and an hour.
-- The row is also the lock of the developer's alerts, and it counts the open ones. One instance at a time has the lease
-- of the periodic run.
create table anomaly_states (
  developer_id text primary key references developers,
  head         bigint not null,
  five_minutes bigint not null,
  quarter_hour bigint not null,
  one_hour     bigint not null,
  six_hours    bigint not null,
  one_day      bigint not null,
  one_week     bigint not null,
  open_alerts  bigint not null default 0 check (open_alerts >= 0),
  leased_until timestamptz,
  ran_at       timestamptz
) with (fillfactor = 50);

-- Owner: anomalies. The entries of each agent in the window of each measure, exact at the positions of the state.
create table anomaly_counts (
  developer_id text not null references developers,
  measure      text not null,
  agent_id     text not null,
  entries      bigint not null,
  primary key (developer_id, measure, agent_id)
);

-- Owner: anomalies. Facts that one entry shows and no count, for as long as their rule holds them to be true. A fact
-- without a principal or a grant has an empty text there.
create table anomaly_sightings (
  developer_id text not null references developers,
  rule_id      text not null,
  agent_id     text not null,
  principal_id text not null,
  grant_id     text not null,
  at           timestamptz not null,
  metadata     jsonb not null,
  primary key (developer_id, rule_id, agent_id, principal_id, grant_id)
);

create type anomaly_severity as enum ('low', 'medium', 'high', 'critical');
create type anomaly_status as enum ('open', 'acknowledged', 'resolved');
create type anomaly_response as enum ('none', 'revoke_grants', 'suspend_agent');

-- Owner: anomalies. Alerts. Nothing deletes one but the erasure of the account.
create table anomalies (
  developer_id    text not null references developers,
  id              text not null,
  rule_id         text not null,
  rule_name       text not null,
  severity        anomaly_severity not null,
  status          anomaly_status not null,
  agent_id        text not null,
  principal_id    text,
  grant_id        text,
  description     text not null,
  metadata        jsonb not null,
  occurrences     bigint not null check (occurrences > 0),
  detected_at     timestamptz not null,
  last_seen_at    timestamptz not null,
  acknowledged_at timestamptz,
  resolved_at     timestamptz,
  note            text,
  primary key (developer_id, id),
  check ((status = 'resolved') = (resolved_at is not null))
);
-- A detection finds the alert that it continues.
create unique index anomalies_unresolved on anomalies (developer_id, rule_id, agent_id, principal_id, grant_id)
  nulls not distinct where status <> 'resolved';
-- GET /v1/anomalies?unacknowledged=true, newest first.
create index anomalies_open on anomalies (developer_id, id) where status = 'open';
-- GET /v1/anomaly/metrics of a window.
create index anomalies_detected on anomalies (developer_id, detected_at);

-- Owner: anomalies. Custom rules, and what a developer changed of the built-in ones: those have no id, and nulls where
-- the built-in value stands. The counts of a custom rule are true once `is_counted`.
create table anomaly_rules (
  developer_id text not null references developers,
  rule_id      text not null,
  id           text,
  name         text,
  description  text,
  severity     anomaly_severity,
  response     anomaly_response,
  enabled      boolean,
  condition    jsonb,
  channels     text[] not null default '{}',
  is_counted   boolean not null default false,
  created_at   timestamptz not null,
  primary key (developer_id, rule_id),
  check ((id is null) = (condition is null))
);
