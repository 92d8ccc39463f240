create type passkey_owner as enum ('principal', 'approver');
-- `enrol`: an approver's first passkey. `decide`: an exact call, of which `subject_id` is the decision.
create type passkey_purpose as enum ('register', 'enrol', 'consent', 'connect', 'decide');

-- The handle of an approver moves here. That of one who was removed goes.
alter table passkey_users rename column principal_id to owner_id;
alter table passkey_users add column owner_kind passkey_owner not null default 'principal';
alter table passkey_users alter column owner_kind drop default;
alter table passkey_users drop constraint passkey_users_pkey;
alter table passkey_users add primary key (developer_id, owner_kind, owner_id);
insert into passkey_users (developer_id, owner_kind, owner_id, user_handle)
  select developer_id, 'approver', id, handle from approvers where status <> 'removed';
alter table approvers drop column handle;

-- A passkey counts only for its owner, whose kind is part of each search. Before, nothing was kept about the
-- authenticators of approvers; whether one is backed up is stored at its next use.
alter table passkeys rename column principal_id to owner_id;
alter table passkeys add column owner_kind passkey_owner not null default 'principal';
alter table passkeys alter column owner_kind drop default;
-- One authenticator may have a passkey of each kind under one id.
drop index passkeys_credential;
create unique index passkeys_credential on passkeys (developer_id, credential_id, owner_kind);
alter index passkeys_principal rename to passkeys_owner;
alter index passkeys_principal_folded rename to passkeys_owner_folded;
insert into passkeys (developer_id, id, owner_kind, owner_id, credential_id, public_key, counter, status, is_multi_device,
    backed_up, transports, created_at, last_used_at)
  select developer_id, id, 'approver', approver_id, credential_id, public_key, counter,
      case when is_suspect then 'suspect'::passkey_status else 'active' end, false, false, transports, created_at, last_used_at
    from approver_passkeys;
-- An approver signs in with a passkey alone, which names no account.
create index passkeys_sign_in on passkeys (credential_id);
drop table approver_passkeys;

alter table passkey_challenges rename column principal_id to owner_id;
alter table passkey_challenges add column owner_kind passkey_owner not null default 'principal';
alter table passkey_challenges alter column owner_kind drop default;
alter table passkey_challenges alter column use type passkey_purpose using use::text::passkey_purpose;
drop type passkey_use;
insert into passkey_challenges (developer_id, id, owner_kind, owner_id, use, subject_id, challenge, signed, expires_at,
    used_at)
  select developer_id, id, 'approver', approver_id,
      case when subject_id is null then 'enrol' when subject_id = 'passkey' then 'register' else 'decide' end::passkey_purpose,
      nullif(subject_id, 'passkey'), challenge, json_build_object('nonce', serial), expires_at, used_at
    from approver_challenges;
drop table approver_challenges;
