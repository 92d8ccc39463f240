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
  ran_at       timestamptz,
  -- When detection looks at an account although no entry has come: in each round since the epoch, not at all without a time.
  due_at       timestamptz default 'epoch'
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

-- Owner: anomalies. Alerts. Nothing deletes one but the erasure of the account.
create type anomaly_severity as enum ('low', 'medium', 'high', 'critical');
create type anomaly_status as enum ('open', 'acknowledged', 'resolved');
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
create index anomalies_detected on anomalies (developer_id, detected_at) where detected_at is not null;

-- Owner: anomalies. Custom rules, and what a developer changed of the built-in ones: those have no id, and nulls where
-- the built-in value stands. The counts of a custom rule are true once `is_counted`.
create type anomaly_response as enum ('none', 'revoke_grants', 'suspend_agent');
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

-- Owner: anomalies. The places to which messages about new alerts go. `sealed` is the configuration: URLs and
-- signing secrets, or addresses.
create type anomaly_channel_type as enum ('webhook', 'slack', 'email');
create table anomaly_channels (
  developer_id text not null references developers,
  id           text not null,
  type         anomaly_channel_type not null,
  name         text not null,
  sealed       bytea not null,
  seal_key_id  text not null,
  severities   text[] not null check (severities <@ '{low,medium,high,critical}'),
  enabled      boolean not null,
  created_at   timestamptz not null,
  primary key (developer_id, id)
);
create unique index anomaly_channels_developer_id_name_key on anomaly_channels (developer_id, name) where name is not null;

-- Owner: anomalies. Messages on their way to a channel, one for each new alert. A row goes when it is delivered, or has
-- failed for the last time.
create table anomaly_messages (
  developer_id    text not null references developers,
  id              text not null,
  channel_id      text not null,
  body            text not null,
  attempts        smallint not null default 0,
  next_attempt_at timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, channel_id) references anomaly_channels on delete cascade
);
-- The job that sends messages, across tenants and the longest due first.
create index anomaly_messages_due on anomaly_messages (next_attempt_at);
