-- Shown by authenticators in place of the operator's name.
alter table developers add column fido_rp_name text;

create type passkey_status as enum ('active', 'suspect');
create type passkey_use as enum ('register', 'consent', 'connect');

-- Owner: passkeys. The user handle of a principal: 32 random bytes, made once, so that authenticators keep no personal
-- data. Its row is locked where challenges of the principal are counted.
create table passkey_users (
  developer_id text not null references developers,
  principal_id text not null,
  user_handle  bytea not null,
  primary key (developer_id, principal_id)
);

-- Owner: passkeys. `public_key` is a COSE key. A passkey is suspect once its counter went back, until it is cleared.
create table passkeys (
  developer_id    text not null references developers,
  id              text not null,
  principal_id    text not null,
  credential_id   bytea not null,
  public_key      bytea not null,
  counter         bigint not null,
  status          passkey_status not null,
  device_name     text,
  is_multi_device boolean not null,
  backed_up       boolean not null,
  transports      text[] not null,
  aaguid          text,
  created_at      timestamptz not null,
  last_used_at    timestamptz,
  primary key (developer_id, id)
);
-- A credential of an authenticator is registered once.
create unique index passkeys_credential on passkeys (developer_id, credential_id);
-- The passkeys of a principal, newest first.
create index passkeys_principal on passkeys (developer_id, principal_id, id);
-- The passkeys of a principal whose id is compared without regard to case, when the person leaves.
create index passkeys_principal_folded on passkeys (developer_id, lower(principal_id));

-- Owner: passkeys. Challenges that authenticators sign, each for one use: registering, or one request or connect session
-- (`subject_id`). `signed` holds what a challenge stands for, and after its use the assertion too.
create table passkey_challenges (
  developer_id text not null references developers,
  id           text not null,
  principal_id text not null,
  use          passkey_use not null,
  subject_id   text,
  challenge    bytea not null,
  digest       text,
  signed       json,
  passkey_id   text,
  expires_at   timestamptz not null,
  used_at      timestamptz,
  primary key (developer_id, id)
);
-- The open challenges of a principal, newest first.
create index passkey_challenges_open on passkey_challenges (developer_id, principal_id, id) where used_at is null;
-- Challenges that are over, of a developer.
create index passkey_challenges_over on passkey_challenges (developer_id, expires_at);

-- Owner: passkeys. The assertion under which a request was approved, with everything that its challenge stands for, so
-- that anybody can check it later. `evidence` is `json`, which keeps the text as it was hashed.
create table passkey_evidence (
  developer_id    text not null references developers,
  auth_request_id text not null,
  passkey_id      text not null,
  evidence        json not null,
  verified_at     timestamptz not null,
  primary key (developer_id, auth_request_id),
  foreign key (developer_id, auth_request_id) references auth_requests
);
