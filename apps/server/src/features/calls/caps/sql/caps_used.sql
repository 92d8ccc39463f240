-- The units of locked counters, in the order of their keys in p_keys.
create or replace function caps_used(p_developer_id text, p_keys text[]) returns jsonb language sql stable as
$$
  select jsonb_agg(coalesce((
      select c.used from caps_counter c where c.developer_id = p_developer_id and c.key = k.key), 0) order by k.at)
    from unnest(p_keys) with ordinality k(key, at)
$$;
