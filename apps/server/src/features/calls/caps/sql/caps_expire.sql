-- Takes from locked counters what has left their windows.
create or replace function caps_expire(p_developer_id text, p_keys text[], p_now bigint) returns void
  language sql as
$$
  with gone as (
    delete from caps_slot s where s.developer_id = p_developer_id and s.key = any (p_keys) and s.expires_ms <= p_now
      returning s.key, s.units
  ), freed as (select g.key, sum(g.units) as units from gone g group by g.key)
  update caps_counter c set used = c.used - f.units, clock_ms = greatest(c.clock_ms, p_now)
    from freed f where c.developer_id = p_developer_id and c.key = f.key
$$;
