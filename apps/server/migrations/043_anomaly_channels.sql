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
  primary key (developer_id, id),
  unique (developer_id, name)
);

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
