-- The parts of an entry whose personal content was erased: shown, or as digests. Null for every other entry.
alter table audit_entries add column parts text[];

-- Owner: audit. The erased entries, with the leaf that their parts have to make. The entry `audit.erased` of an erasure
-- has a digest of these rows, so nobody can erase by changing rows alone.
create table audit_erased (
  developer_id text not null,
  seq          bigint not null,
  erasure_id   text not null,
  leaf         bytea not null,
  primary key (developer_id, seq)
);
-- The digest of an erasure.
create index audit_erased_of on audit_erased (developer_id, erasure_id, seq);
create trigger append_only before update or delete or truncate on audit_erased
  for each statement execute function refuse_change();

-- The function stands here, and not in a file of its own, because the trigger needs it. An update may do nothing but
-- erase, once, an entry that a row of audit_erased names.
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
drop trigger append_only on audit_entries;
create trigger append_only before delete or truncate on audit_entries
  for each statement execute function refuse_change();
create trigger erase_only before update on audit_entries for each row execute function erase_only();

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

-- Days after which the personal content of entries is erased; null for never.
alter table developers add column audit_retention_days integer check (audit_retention_days between 30 and 3650);
create index developers_retention on developers (id) where audit_retention_days is not null;
