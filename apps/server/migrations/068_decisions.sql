create type decision_status as enum
  ('pending', 'approved', 'consumed', 'denied', 'cancelled', 'superseded', 'expired');
create type decision_hold as enum ('free', 'held', 'sent', 'spent');

-- Owner: decisions. The current version of a case that requests name.
create table decision_cases (
  developer_id text not null references developers,
  case_id      text not null,
  case_version text not null,
  primary key (developer_id, case_id)
);

-- Owner: decisions. Requests that people decide about one exact call. `action` is the canonical JSON whose hash is
-- signed. `routed` has the approvers who may decide. At `due_at` the request
-- expires, or people are reminded of it. `hold` is the state of the approvals once they are used, by the
-- call `call_id`.
create table decisions (
  developer_id text not null references developers,
  id           text not null,
  status       decision_status not null,
  agent_id     text not null,
  agent_did    text not null,
  grant_id     text not null,
  principal_id text not null,
  connector    text not null,
  tool         text not null,
  permission   text not null,
  purpose      text,
  action       text not null,
  action_hash  text not null,
  case_id      text,
  case_version text,
  decision     text,
  four_eyes_on text[],
  quorum       smallint not null check (quorum in (1, 2)),
  nonce        text not null,
  summary      text,
  routed       text[] not null,
  reminders    smallint not null,
  hold         decision_hold not null,
  call_id      text,
  held_at      timestamptz,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  due_at       timestamptz not null,
  primary key (developer_id, id)
);
-- The open request about the same call.
create unique index decisions_open on decisions
  (developer_id, grant_id, action_hash) where status in ('pending', 'approved');
-- The requests of a case, the last one for the page's difference.
create index decisions_case on decisions (developer_id, case_id, id) where case_id is not null;
-- The requests of an agent, newest first.
create index decisions_agent on decisions (developer_id, agent_id, id);
-- The requests that expire next, or are due for a reminder.
create index decisions_due on decisions (due_at) where status in ('pending', 'approved');

-- Owner: decisions. One person's approval. The decision grant is signed from it whenever the agent asks.
create table decision_approvals (
  developer_id  text not null references developers,
  id            text not null,
  decision_id   text not null,
  approver_id   text not null,
  sub           text not null,
  position      smallint not null check (position in (1, 2)),
  on_behalf_of  text,
  is_relaxed    boolean not null,
  credential    text not null,
  device_hash   bytea not null,
  session_id    text not null,
  evidence      jsonb not null,
  approved_at   timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, decision_id) references decisions on delete cascade
);
-- A position is taken once, so that of two approvals at once one comes second.
create unique index decision_approvals_position on decision_approvals (developer_id, decision_id, position);
