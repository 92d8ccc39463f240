-- Owner: principals. Live sessions by the `jti` of their token, without its text. The end of a session
-- deletes its row, and the developer's next session deletes expired rows.
create table principal_sessions (
  developer_id text not null references developers,
  id           text not null,
  principal_id text not null,
  expires_at   timestamptz not null,
  primary key (developer_id, id)
);
-- Deletes expired sessions.
create index principal_sessions_expired on principal_sessions (developer_id, expires_at) where expires_at is not null;
-- The sessions of a person who leaves, under each id in any case.
create index principal_sessions_folded on principal_sessions (developer_id, lower(principal_id))
  where lower(principal_id) is not null;

-- Owner: principals. The address at which a principal has read a mail, by a keyed hash: a link to the own page is mailed
-- there to who asks for it. The service keeps no address.
create table principal_addresses (
  developer_id text not null references developers,
  principal_id text not null,
  address_hash bytea not null,
  proved_at    timestamptz not null,
  primary key (developer_id, principal_id)
);
-- The people of an address that somebody names.
create index principal_addresses_hash on principal_addresses (address_hash);
-- The address of a person who leaves, under each id in any case.
create index principal_addresses_folded on principal_addresses (developer_id, lower(principal_id));

-- Owner: offboarding. What an offboarding of a principal, or the revocation of an agent, has ended. `first_seq` to `seq` are
-- the entries of its transaction, and `hash` is that of the last. `ended` counts them by kind. `remaining` is what the
-- tables had of them that was still of use, counted in the same transaction. `upstream` has the credentials whose
-- services are told of the end.
create type offboarded_kind as enum ('principal', 'agent');
create table offboardings (
  developer_id text not null references developers,
  id           text not null,
  kind         offboarded_kind not null,
  subject_id   text not null,
  first_seq    bigint not null,
  seq          bigint not null,
  hash         bytea not null check (octet_length(hash) = 32),
  ended        jsonb not null,
  remaining    jsonb not null,
  upstream     jsonb not null,
  ended_at     timestamptz not null,
  primary key (developer_id, id)
);
-- The last offboarding of somebody.
create index offboardings_subject on offboardings (developer_id, kind, subject_id, id);

-- Owner: passkeys. The user handle of a person: 32 random bytes, made once, so that authenticators keep no personal data.
-- Its row is locked where challenges of the person are counted.
create type passkey_owner as enum ('principal', 'approver', 'member');
create table passkey_users (
  developer_id text not null references developers,
  owner_id     text not null,
  user_handle  bytea not null,
  owner_kind   passkey_owner not null,
  primary key (developer_id, owner_kind, owner_id)
);

-- Owner: passkeys. `public_key` is a COSE key. A passkey is suspect once its counter went back, until it is cleared.
-- It counts only for its owner, whose kind is part of each search.
create type passkey_status as enum ('active', 'suspect');
create table passkeys (
  developer_id    text not null references developers,
  id              text not null,
  owner_id        text not null,
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
  owner_kind      passkey_owner not null,
  primary key (developer_id, id)
);
-- The passkeys of a person, newest first.
create index passkeys_owner on passkeys (developer_id, owner_id, id) where owner_id is not null;
-- A credential of an authenticator is registered once; one authenticator may have a passkey of each kind under one id.
create unique index passkeys_credential on passkeys (developer_id, credential_id, owner_kind);
-- An approver signs in with a passkey alone, which names no account.
create index passkeys_sign_in on passkeys (credential_id);
-- The passkeys of a person who leaves, under each id in any case; and GET /v1/principals by the beginning of an id.
create index passkeys_owner_folded on passkeys (developer_id, lower(owner_id) text_pattern_ops)
  where lower(owner_id) is not null;

-- Owner: passkeys. Challenges that authenticators sign, each for one use: registering, or one request or connect session
-- (`subject_id`). `signed` holds what a challenge stands for, and after its use the assertion too.
-- `enrol`: an approver's first passkey. `decide`: an exact call, of which `subject_id` is the decision.
create type passkey_purpose as enum ('register', 'enrol', 'consent', 'connect', 'decide');
create table passkey_challenges (
  developer_id text not null references developers,
  id           text not null,
  owner_id     text not null,
  use          passkey_purpose not null,
  subject_id   text,
  challenge    bytea not null,
  digest       text,
  signed       json,
  passkey_id   text,
  expires_at   timestamptz not null,
  used_at      timestamptz,
  owner_kind   passkey_owner not null,
  primary key (developer_id, id)
);
-- The open challenges of a person, newest first.
create index passkey_challenges_open on passkey_challenges (developer_id, owner_id, id)
  where used_at is null and owner_id is not null;
-- Challenges that are over, of a developer.
create index passkey_challenges_over on passkey_challenges (developer_id, expires_at) where expires_at is not null;

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
