-- Revokes credentials and the passports below them, and sets their bits, for those that are not revoked. Returns their
-- ids. Flips of one list wait for each other, so none is lost.
create or replace function revoke_credentials(p_developer_id text, p_at timestamptz, p_ids text[])
  returns text[] language plpgsql set plan_cache_mode = force_generic_plan set enable_seqscan = off as
$$
declare
  fallen  text[] := hold_credentials(p_developer_id, p_ids);
  ended   text[];
  place   record;
  flipped bytea;
begin
  select coalesce(array_agg(id order by id), '{}') into ended from verifiable_credentials
    where developer_id = p_developer_id and id = any (fallen) and revoked_at is null;
  update verifiable_credentials set revoked_at = p_at where developer_id = p_developer_id and id = any (ended);
  for place in
    select c.status_list_id as list_id, array_agg(c.status_list_idx) as idxs from verifiable_credentials c
      where c.developer_id = p_developer_id and c.id = any (ended) group by 1 order by 1
  loop
    select l.bits into flipped from status_lists l
      where l.developer_id = p_developer_id and l.id = place.list_id for update of l;
    for at in 1 .. cardinality(place.idxs) loop
      flipped := set_bit(flipped, place.idxs[at], 1);
    end loop;
    update status_lists l set bits = flipped, flips = flips + 1
      where l.developer_id = p_developer_id and l.id = place.list_id;
  end loop;
  return ended;
end
$$;
