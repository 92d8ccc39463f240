create type approver_kind as enum ('person', 'principal');
create type approver_status as enum ('invited', 'pending_confirmation', 'active', 'suspended', 'removed');
create type approver_assurance as enum ('single', 'dual');

-- Owner: approvers. People who decide about exact calls. `mailbox` is the address in lower case without a tag, by which
-- two people are told apart. `handle` is 32 random bytes, all that authenticators know of the person.
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
  handle            bytea not null,
  invite_hash       bytea,
  invite_mailed     boolean not null,
  invite_expires_at timestamptz,
  active_from       timestamptz,
  absent_from       timestamptz,
  absent_until      timestamptz,
  deputy_id         text,
  created_at        timestamptz not null,
  primary key (developer_id, id),
  check ((kind = 'principal') = (principal_id is not null))
);
-- A person approves for a developer once.
create unique index approvers_mailbox on approvers (developer_id, mailbox) where status <> 'removed';

-- Owner: approvers. Passkeys of approvers, which no API key registers and no consent page takes.
create table approver_passkeys (
  developer_id  text not null references developers,
  id            text not null,
  approver_id   text not null,
  credential_id bytea not null,
  public_key    bytea not null,
  counter       bigint not null,
  transports    text[] not null,
  is_suspect    boolean not null,
  created_at    timestamptz not null,
  last_used_at  timestamptz,
  primary key (developer_id, id),
  foreign key (developer_id, approver_id) references approvers on delete cascade
);
-- A credential of an authenticator is registered once.
create unique index approver_passkeys_credential on approver_passkeys (developer_id, credential_id);
-- A person signs in with a passkey alone.
create index approver_passkeys_sign_in on approver_passkeys (credential_id);

-- Owner: approvers. A challenge for one approver, taken once. `subject_id` is what it is about: a decision, or nothing.
create table approver_challenges (
  developer_id text not null references developers,
  id           text not null,
  approver_id  text not null,
  subject_id   text,
  serial       text not null,
  challenge    bytea not null,
  expires_at   timestamptz not null,
  used_at      timestamptz,
  primary key (developer_id, id),
  foreign key (developer_id, approver_id) references approvers on delete cascade
);

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
