-- Owner: scim. Every id of an offboarded person is closed. `subject_id` is the id by which they were offboarded, which admits
-- all of them again. An id that `is_folded` is closed in any case. Rows stay after an admission, for the offboarding is found by
-- every id.
alter table closed_principals
  add column is_folded boolean not null default false,
  add column subject_id text,
  add column admitted_at timestamptz;
update closed_principals set subject_id = principal_id;
alter table closed_principals alter column subject_id set not null;
-- An id in any case.
create index closed_principals_folded on closed_principals (developer_id, lower(principal_id));
-- What an admission opens.
create index closed_principals_subject on closed_principals (developer_id, subject_id);

-- Owner: offboarding. Every id that was closed, and those of them that are closed in any case. `upstream` names the first 500
-- services, and `upstream_states` counts all.
alter table offboardings
  add column principal_ids text[] not null default '{}',
  add column folded_ids text[] not null default '{}',
  add column upstream_states jsonb not null default '{}';
update offboardings set principal_ids = array[subject_id] where kind = 'principal';

-- Owner: connections. The open sessions of a principal, in any case, and those for a service, of which there are ten at most.
drop index connect_sessions_open;
create index connect_sessions_open on connect_sessions (developer_id, lower(principal_id), service, id)
  where status in ('pending', 'started', 'returned');

-- Owner: approvers. An account has at most 1,000, and the end of a person reads them all.
drop index approvers_sso_user;
drop index approvers_principal;
