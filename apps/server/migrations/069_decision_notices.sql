create type decision_channel_kind as enum ('slack', 'teams');

-- Owner: decisions. Places to which notices about decisions go, beside mail. The URL is sealed, as it is a secret.
create table decision_channels (
  developer_id text not null references developers,
  id           text not null,
  kind         decision_channel_kind not null,
  name         text not null,
  sealed       bytea not null,
  seal_key_id  text not null,
  created_at   timestamptz not null,
  primary key (developer_id, id)
);

-- Owner: decisions. Notices on their way, to an approver's address or to a channel.
create table decision_notices (
  developer_id    text not null references developers,
  id              text not null,
  decision_id     text not null,
  approver_id     text,
  channel_id      text,
  subject         text not null,
  body            text not null,
  attempts        smallint not null,
  next_attempt_at timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, decision_id) references decisions on delete cascade,
  foreign key (developer_id, channel_id) references decision_channels on delete cascade,
  check ((approver_id is null) <> (channel_id is null))
);
-- The notices that are due.
create index decision_notices_due on decision_notices (next_attempt_at);
-- The notices about a decision.
create index decision_notices_decision on decision_notices (developer_id, decision_id);
