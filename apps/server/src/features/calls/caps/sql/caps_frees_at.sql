-- Finds the time after p_now at which p_units units will have left a counter's window.
create or replace function caps_frees_at(p_developer_id text, p_key text, p_now bigint, p_units bigint)
  returns bigint language sql stable as
$$
  select min(f.expires_ms) from (
    select s.expires_ms, sum(s.units) over (order by s.expires_ms) as freed from caps_slot s
      where s.developer_id = p_developer_id and s.key = p_key and s.expires_ms > p_now) f
    where f.freed >= p_units
$$;
