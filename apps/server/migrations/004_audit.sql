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
) with (fillfactor = 20, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

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
  -- The parts of an entry whose personal content was erased: shown, or as digests. Null for every other entry.
  parts        text[],
  primary key (developer_id, seq)
) with (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05);
-- The functions stand here, and not in a file of their own, because the triggers need them. An update may do nothing but
-- erase, once, an entry that a row of audit_erased names.
create function refuse_change() returns trigger language plpgsql as
$$ begin raise exception '% is append-only', tg_table_name; end $$;
create function erase_only() returns trigger language plpgsql as
$$
begin
  if old.parts is null and new.parts is not null and new.salt is null and new.principal_id is null
    and to_jsonb(new) - array['parts', 'salt', 'principal_id', 'metadata']
      = to_jsonb(old) - array['parts', 'salt', 'principal_id', 'metadata']
    and not exists (select from jsonb_each(new.metadata) m where old.metadata -> m.key is distinct from m.value)
    and exists (select from audit_erased e where e.developer_id = old.developer_id and e.seq = old.seq)
  then
    return new;
  end if;
  raise exception 'audit_entries is append-only';
end
$$;
create trigger append_only before delete or truncate on audit_entries
  for each statement execute function refuse_change();
create trigger erase_only before update on audit_entries for each row execute function erase_only();

-- GET /v1/audit/entries by agent, grant, principal and action: each is a range in the order of the chain.
create index audit_entries_agent on audit_entries (developer_id, agent_id, seq) where agent_id is not null;
create index audit_entries_grant on audit_entries (developer_id, grant_id, seq) where grant_id is not null;
create index audit_entries_principal on audit_entries (developer_id, principal_id, seq) where principal_id is not null;
create index audit_entries_action on audit_entries (developer_id, action text_pattern_ops, seq) where action is not null;
create unique index audit_entries_developer_id_id_key on audit_entries (developer_id, id) where id is not null;
-- The filter by status, for the statuses that select few: refusals and failures.
create index audit_entries_status on audit_entries (developer_id, status, seq)
  where status <> 'success' and status is not null;
-- GET /v1/audit/entries by actor: who is always the same for long stretches of a chain, so a new entry comes to the end of
-- the index. Developers may write what they like into the metadata of their own entries, so the index leaves long texts out.
create index audit_entries_actor on audit_entries (developer_id, (metadata ->> 'actor'), seq)
  where metadata ->> 'actor' is not null and length(metadata ->> 'actor') <= 128;
-- GET /v1/audit/entries by request. An id that the service gives begins with its time, so here too a new entry comes to the
-- end; ids without an order cost the chain twice its own WAL.
create index audit_entries_request on audit_entries (developer_id, request_id, seq) where request_id is not null;
-- GET /v1/audit/entries by the reason of a denial. No developer appends entries of this action, so the text is one of a
-- short list, and a new entry comes to the end of its reason.
create index audit_entries_denial on audit_entries
  (developer_id, ((metadata ->> 'reasonCode') || coalesce('/' || (metadata ->> 'subReason'), '')), seq)
  where action = 'tool.enforce' and status = 'blocked';

-- Owner: audit. Counts of refused attempts. Only the first of a minute becomes an entry, so that refusals cannot fill a
-- chain.
create table blocked_attempts (
  developer_id    text not null references developers,
  action          text not null,
  minute          timestamptz not null,
  attempts        integer not null,
  previous_minute integer not null,
  primary key (developer_id, action)
);

-- Owner: audit. Signed statements of where a chain ended. They reveal a missing end. Like the chain, they outlive the
-- developer's row.
create table audit_checkpoints (
  developer_id text not null,
  seq          bigint not null,
  hash         bytea not null,
  jws          text not null,
  signed_at    timestamptz not null,
  primary key (developer_id, seq)
);

-- Owner: audit. How far the periodic check of each chain is: the last good entry of the round, and its hash, so that a
-- chain that somebody wrote again is noticed.
create table audit_checks (
  developer_id text not null references developers,
  seq          bigint not null,
  hash         bytea,
  began_at     timestamptz not null,
  checked_at   timestamptz not null,
  primary key (developer_id)
);

-- Owner: audit. The erased entries, with the leaf that their parts have to make. The entry `audit.erased` of an erasure
-- has a digest of these rows, so a row that was changed without such an entry is found.
create table audit_erased (
  developer_id text not null,
  seq          bigint not null,
  erasure_id   text not null,
  leaf         bytea not null,
  primary key (developer_id, seq)
);
-- The digest of an erasure.
create index audit_erased_of on audit_erased (developer_id, erasure_id, seq) where erasure_id is not null;
create trigger append_only before update or delete or truncate on audit_erased
  for each statement execute function refuse_change();

-- Owner: erasures. Erasures of a person's content, or of all content before a time, with how far they are. The person's
-- id is here only while the erasure runs.
create table audit_erasures (
  developer_id text not null references developers,
  id           text collate "C" not null,
  principal_id text,
  before_at    timestamptz,
  reason       text,
  actor        text not null,
  next_seq     bigint not null,
  last_seq     bigint not null,
  entries      bigint not null default 0,
  broken       bigint not null default 0,
  created_at   timestamptz not null,
  finished_at  timestamptz,
  primary key (developer_id, id)
);
-- Erasures that are not finished.
create index audit_erasures_open on audit_erasures (developer_id, id) where finished_at is null;
-- The last erasure by age of an account.
create index audit_erasures_aged on audit_erasures (developer_id, id) where before_at is not null;

-- Owner: compliance. Orders to keep everything, as for a legal dispute. While an order stands, the account cannot be
-- closed, so nothing of it is erased.
create table legal_holds (
  developer_id text not null references developers,
  id           text collate "C" not null,
  name         text not null,
  reason       text,
  principal_id text,
  created_at   timestamptz not null,
  released_at  timestamptz,
  primary key (developer_id, id)
);
-- The holds that stand: a close asks for them.
create index legal_holds_standing on legal_holds (developer_id, id) where released_at is null;
