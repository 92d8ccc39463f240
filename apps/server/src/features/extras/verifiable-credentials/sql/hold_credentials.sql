-- Locks credentials and the passports below them until the commit, and returns the ids of all.
create or replace function hold_credentials(p_developer_id text, p_ids text[])
  returns text[] language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
declare
  held  text[] := p_ids;
  below text[];
begin
  loop
    -- A passport is issued while the one above it is held. So those below are looked for again once all of these are.
    perform from verifiable_credentials c
      where c.developer_id = p_developer_id and c.id = any (held) order by c.id for update of c;
    with recursive tree as (
      select id from unnest(held) id
      union
      select p.id from tree join passports p on p.developer_id = p_developer_id and p.parent_id = tree.id
    )
    select array_agg(id) into below from tree;
    exit when cardinality(below) = cardinality(held);
    held := below;
  end loop;
  return held;
end
$$;
