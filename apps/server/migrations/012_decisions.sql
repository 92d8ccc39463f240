-- Owner: approvers. People who decide about exact calls. `mailbox` is the address in lower case without a tag, by which
-- two people are told apart. The provider of a verified domain may vouch for a person (`sso`); the subject is fixed at
-- enrolment.
create type approver_kind as enum ('person', 'principal');
create type approver_assurance as enum ('single', 'dual', 'sso');
create type approver_status as enum ('invited', 'pending_confirmation', 'active', 'suspended', 'removed');
create table approvers (
  developer_id      text not null references developers,
  id                text not null,
  kind              approver_kind not null,
  principal_id      text,
  email             text not null,
  mailbox           text not null,
  email_verified    boolean not null,
  display_name      text not null,
  groups            text[] not null,
  connectors        text[],
  assurance         approver_assurance not null,
  status            approver_status not null,
  enrolled_by       text not null,
  confirmed_by      text,
  invite_hash       bytea,
  invite_mailed     boolean not null,
  invite_expires_at timestamptz,
  active_from       timestamptz,
  absent_from       timestamptz,
  absent_until      timestamptz,
  deputy_id         text,
  created_at        timestamptz not null,
  sso_sub           text,
  sso_user_id       text,
  -- From then on the link of the operator (`invite_hash`) replaces the passkeys of an active approver.
  recovery_from     timestamptz,
  primary key (developer_id, id),
  check ((kind = 'principal') = (principal_id is not null))
);
-- A person approves for a developer once.
create unique index approvers_mailbox on approvers (developer_id, mailbox) where status <> 'removed';
-- The approver whom a provider's user is, when that user leaves.
create index approvers_sso_user on approvers (developer_id, sso_user_id) where sso_user_id is not null;
-- Those who approve as a principal who leaves.
create index approvers_principal on approvers (developer_id, principal_id) where principal_id is not null;

-- Owner: approvers. Sessions of the page, whose secrets are stored as their SHA-256.
create table approver_sessions (
  developer_id text not null references developers,
  id           text not null,
  approver_id  text not null,
  secret_hash  bytea not null,
  device_hash  bytea not null,
  asserted_at  timestamptz not null,
  last_seen_at timestamptz not null,
  expires_at   timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, approver_id) references approvers on delete cascade
);

-- Owner: approvers. Browsers in which approvers have turned on notifications. The endpoint and the keys of the browser are
-- sealed together, because they are all that sending to it needs. The push server accepts messages only if they are signed
-- with the VAPID key that the browser was given.
create table approver_subscriptions (
  developer_id  text not null references developers,
  id            text not null,
  approver_id   text not null,
  endpoint_hash bytea not null,
  vapid_key     text not null,
  sealed        bytea not null,
  seal_key_id   text not null,
  created_at    timestamptz not null,
  primary key (developer_id, id),
  foreign key (developer_id, approver_id) references approvers on delete cascade
);
-- A browser belongs to one approver of an account.
create unique index approver_subscriptions_endpoint on approver_subscriptions (developer_id, endpoint_hash);
-- The browsers of approvers.
create index approver_subscriptions_approver on approver_subscriptions (developer_id, approver_id);

-- Owner: decisions. The current version of a case that requests name.
create table decision_cases (
  developer_id text not null references developers,
  case_id      text not null,
  case_version text not null,
  -- The grants whose requests through the vault proxy may name the case.
  grant_ids    text[] not null default '{}',
  primary key (developer_id, case_id)
);

-- Owner: decisions. Requests that people decide about one exact call. `action` is the canonical JSON whose hash is
-- signed. `routed` has the approvers who may decide. At `due_at` the request expires, or people are reminded of it. `hold`
-- is the state of the approvals once they are used, by the call `call_id`.
create type decision_status as enum ('pending', 'approved', 'consumed', 'denied', 'cancelled', 'superseded', 'expired');
create type decision_hold as enum ('free', 'held', 'sent', 'spent');
create table decisions (
  developer_id  text not null references developers,
  id            text not null,
  status        decision_status not null,
  agent_id      text not null,
  agent_did     text not null,
  grant_id      text not null,
  principal_id  text not null,
  connector     text not null,
  tool          text not null,
  permission    text not null,
  purpose       text,
  action        text not null,
  action_hash   text not null,
  case_id       text,
  case_version  text,
  decision      text,
  four_eyes_on  text[],
  quorum        smallint not null check (quorum in (1, 2)),
  nonce         text not null,
  summary       text,
  routed        text[] not null,
  reminders     smallint not null,
  hold          decision_hold not null,
  call_id       text,
  held_at       timestamptz,
  created_at    timestamptz not null,
  expires_at    timestamptz not null,
  due_at        timestamptz not null,
  -- The id of the call for which a request was made. The repetition of that call finds the request, whatever became of it.
  asked_call_id text,
  -- The canonical JSON of all arguments of a call whose manifest binds a part of them; `action` has that part.
  given         text,
  primary key (developer_id, id)
);
-- The open request about the same call.
create unique index decisions_open on decisions
  (developer_id, grant_id, action_hash) where status in ('pending', 'approved');
-- The requests of a case, the last one for the page's difference.
create index decisions_case on decisions (developer_id, case_id, id) where case_id is not null;
-- The requests that expire next, or are due for a reminder.
create index decisions_due on decisions (due_at) where status in ('pending', 'approved');
-- The requests of an agent, newest first.
create index decisions_agent on decisions (developer_id, agent_id, id) where agent_id is not null;
-- The request of a call: of the one that uses its approvals, and before any use of the one that asked.
create index decisions_call on decisions (developer_id, grant_id, coalesce(call_id, asked_call_id), id)
  where coalesce(call_id, asked_call_id) is not null and grant_id is not null;
-- The refusal of the same call.
create index decisions_denied on decisions (developer_id, grant_id, action_hash, id)
  where status = 'denied' and grant_id is not null;

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
create unique index decision_approvals_position on decision_approvals (developer_id, decision_id, position)
  where decision_id is not null;

-- Owner: decisions. Places to which notices about decisions go, beside mail. The URL is sealed, as it is a secret.
create type decision_channel_kind as enum ('slack', 'teams');
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

-- Owner: decisions. Notices on their way, to an approver's address, to a channel or to a browser.
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
  -- A notice that waits, with others of the same approver, for one mail. All that wait have one time of sending.
  is_gathered     boolean not null default false,
  subscription_id text,
  primary key (developer_id, id),
  foreign key (developer_id, decision_id) references decisions on delete cascade,
  foreign key (developer_id, channel_id) references decision_channels on delete cascade,
  foreign key (developer_id, subscription_id) references approver_subscriptions on delete cascade,
  check (num_nonnulls(approver_id, channel_id, subscription_id) = 1)
);
-- The notices that are due.
create index decision_notices_due on decision_notices (next_attempt_at);
-- The notices about a decision.
create index decision_notices_decision on decision_notices (developer_id, decision_id) where decision_id is not null;
-- The notices that wait for an approver's next digest.
create index decision_notices_gathered on decision_notices (developer_id, approver_id)
  where is_gathered and approver_id is not null;
