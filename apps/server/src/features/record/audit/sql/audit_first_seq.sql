-- The `seq` of the first entry that is not older than a time, or the number after the last. Time never goes
-- back along a chain, so a binary search on the primary key finds the entry, and no append has to keep an
-- index on time.
create or replace function audit_first_seq(p_developer_id text, p_at timestamptz) returns bigint
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
