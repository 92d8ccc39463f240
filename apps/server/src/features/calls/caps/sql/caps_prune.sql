-- Deletes at most p_batch counters and calls of a developer that no longer matter, and passes by those in use.
-- Answers how many rows it deleted. Only the size of the tables depends on it.
create or replace function caps_prune(p_developer_id text, p_record_ms bigint, p_batch integer, p_at bigint)
  returns integer language plpgsql as
$$
declare
  now_ms  bigint := coalesce(p_at, floor(extract(epoch from clock_timestamp()) * 1000)::bigint);
  victims text[];
  rows    integer;
  total   integer;
begin
  select array_agg(l.key) into victims from (
    select c.key from caps_counter c
      where c.developer_id = p_developer_id and c.is_timed and exists (
        select from caps_slot s where s.developer_id = p_developer_id and s.key = c.key and s.expires_ms <= now_ms)
      order by c.key limit p_batch for update of c skip locked) l;
  perform caps_expire(p_developer_id, victims, now_ms);
  total := coalesce(cardinality(victims), 0);

  select array_agg(l.key) into victims from (
    select c.key from caps_counter c
      where c.developer_id = p_developer_id and c.is_timed and c.used = 0 and c.clock_ms < now_ms - 86400000
        and not exists (select from caps_slot s where s.developer_id = p_developer_id and s.key = c.key)
      order by c.key limit p_batch for update of c skip locked) l;
  delete from caps_counter c where c.developer_id = p_developer_id and c.key = any (victims);
  get diagnostics rows = row_count;
  total := total + rows;

  delete from caps_call c where c.developer_id = p_developer_id and c.id = any (array(
    select o.id from caps_call o where o.developer_id = p_developer_id and o.created_ms < now_ms - p_record_ms
      order by o.created_ms limit p_batch for update of o skip locked));
  get diagnostics rows = row_count;
  return total + rows;
end
$$;
