-- Owner: audit. The head of each developer's chain, made with the developer. It is the one hot row, so it has
-- a narrow table of its own, with room on its page for new row versions. It also counts the entries that
-- developers append themselves in a calendar month (UTC), and the developer's events (`event_seq`), because
-- an append writes this row anyway.
create table audit_heads (
  developer_id text primary key,
  seq          bigint not null default 0,
  hash         bytea,
  at           timestamptz not null default '-infinity',
  month        date not null default '-infinity',
  appends      bigint not null default 0,
  event_seq    bigint not null default 0
) with (fillfactor = 20);

-- Owner: audit. Append-only. Can be sharded by developer_id; a page of entries is a range of the primary key.
create type audit_status as enum ('success', 'failure', 'blocked');
create table audit_entries (
  developer_id text not null,
  seq          bigint not null,
  id           text not null,
  agent_id     text,
  agent_did    text,
  grant_id     text,
  principal_id text,
  action       text not null,
  status       audit_status not null,
  metadata     jsonb not null,
  salt         text,
  request_id   text,
  at           timestamptz not null,
  prev_hash    bytea,
  hash         bytea not null,
  primary key (developer_id, seq),
  unique (developer_id, id)
);
-- GET /v1/audit/entries by agent, grant, principal and action: each is a range in the order of the chain.
create index audit_entries_agent on audit_entries (developer_id, agent_id, seq) where agent_id is not null;
create index audit_entries_grant on audit_entries (developer_id, grant_id, seq) where grant_id is not null;
create index audit_entries_principal on audit_entries (developer_id, principal_id, seq) where principal_id is not null;
create index audit_entries_action on audit_entries (developer_id, action text_pattern_ops, seq);
-- The filter by status, for the statuses that select few: refusals and failures.
create index audit_entries_status on audit_entries (developer_id, status, seq) where status <> 'success';

-- The function stands here, and not in a file of its own, because the trigger needs it.
create function refuse_change() returns trigger language plpgsql as
$$ begin raise exception '% is append-only', tg_table_name; end $$;
create trigger append_only before update or delete or truncate on audit_entries
  for each statement execute function refuse_change();

-- Owner: audit. The service counts refused attempts. Only the first of a minute becomes an entry, so nobody
-- can fill a chain by being refused.
create table blocked_attempts (
  developer_id    text not null references developers,
  action          text not null,
  minute          timestamptz not null,
  attempts        integer not null,
  previous_minute integer not null,
  primary key (developer_id, action)
);

-- Owner: audit. Signed statements of where a chain ended. They reveal a missing end.
create table audit_checkpoints (
  developer_id text not null references developers,
  seq          bigint not null,
  hash         bytea not null,
  jws          text not null,
  signed_at    timestamptz not null,
  primary key (developer_id, seq)
);
