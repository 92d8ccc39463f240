alter table developers
  -- Whether a second member has to agree to what weakens the enforcement of a live account.
  add column require_two_for_loosening boolean not null default false;

create type change_status as enum ('open', 'applied', 'withdrawn', 'expired');

-- Owner: changes. Requests that loosen a rule and wait for a second member. `params` and `body` are those of the request, and
-- go when it is decided.
create table changes (
  developer_id text not null references developers,
  id           text not null,
  status       change_status not null default 'open',
  operation    text not null,
  about        text not null,
  -- What would be other than now. The change is applied only while this is so.
  difference   jsonb not null,
  params       jsonb,
  body         jsonb,
  -- SHA-256 over operation, parameters and body.
  hash         bytea not null,
  proposed_by  text not null,
  -- The members who agreed, the first first.
  approved_by  text[] not null default '{}',
  needed       smallint not null,
  created_at   timestamptz not null,
  expires_at   timestamptz not null,
  decided_at   timestamptz,
  primary key (developer_id, id)
);
-- The open changes of an account.
create index changes_open on changes (developer_id, expires_at) where status = 'open';
-- The open changes of all accounts that have run out. "needed" is always more than 0; the search of one account, which does not
-- say so, keeps to the index above.
create index changes_ending on changes (expires_at) where status = 'open' and needed > 0;
-- The decided changes of all accounts that are deleted.
create index changes_decided on changes (decided_at) where status <> 'open';
