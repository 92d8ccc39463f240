-- Owner: audit. Signed statements about where a chain ended, so that an end that was cut off is seen.
create table audit_checkpoints (
  developer_id text not null references developers,
  seq          bigint not null,
  hash         bytea not null,
  jws          text not null,
  signed_at    timestamptz not null,
  primary key (developer_id, seq)
);

-- Owner: audit. Filters of GET /v1/audit/entries that select few: refusals and failures, and acts with a purpose.
create index audit_entries_status on audit_entries (developer_id, status, seq) where status <> 'success';
create index audit_entries_purpose on audit_entries (developer_id, purpose, seq) where purpose is not null;

-- Owner: audit. The `seq` of the first entry that is not older than a time, or one past the last. Time never runs
-- back along a chain, so the primary key finds it by halving: no index on time has to be kept for every append.
create function audit_first_seq(p_developer_id text, p_at timestamptz) returns bigint
  language plpgsql stable as
$$
declare
  low    bigint := 1;
  high   bigint := (select h.seq + 1 from audit_heads h where h.developer_id = p_developer_id);
  middle bigint;
  found  record;
begin
  while low < high loop
    middle := (low + high) / 2;
    select e.seq, e.at into found from audit_entries e
      where e.developer_id = p_developer_id and e.seq >= middle order by e.seq limit 1;
    if found.seq is null or found.at >= p_at then high := middle; else low := found.seq + 1; end if;
  end loop;
  return low;
end
$$;
