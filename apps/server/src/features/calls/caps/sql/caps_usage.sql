-- Reads the units that the counters of p_counters hold now and when their own units would fit, and changes nothing.
-- p_counters is as in caps_reserve. A test hands p_at.
create or replace function caps_usage(p_developer_id text, p_counters jsonb, p_at bigint) returns jsonb
  language plpgsql volatile as
$$
declare
  one    record;
  now_ms bigint;
  held   bigint;
  frees  bigint;
  answer jsonb := '[]';
begin
  for one in select x.* from jsonb_to_recordset(p_counters) x(key text, "limit" bigint, units bigint, "windowMs" bigint)
  loop
    select c.used, greatest(c.clock_ms, coalesce(p_at, floor(extract(epoch from clock_timestamp()) * 1000)::bigint))
      into held, now_ms from caps_counter c where c.developer_id = p_developer_id and c.key = one.key;
    held := coalesce(held, 0) - coalesce((select sum(s.units) from caps_slot s
      where s.developer_id = p_developer_id and s.key = one.key and s.expires_ms <= now_ms), 0);
    frees := null;
    if one.units <= one."limit" and one."windowMs" > 0 and held + one.units > one."limit" then
      frees := caps_frees_at(p_developer_id, one.key, now_ms, held + one.units - one."limit");
    end if;
    answer := answer || jsonb_build_object('used', held, 'retryAtMs', frees);
  end loop;
  return answer;
end
$$;
