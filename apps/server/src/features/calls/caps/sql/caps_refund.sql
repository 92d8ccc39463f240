-- Gives back the units of a call that was held and never sent. Answers the state that the call had, or null for an
-- unknown call. Counters are locked before the call, as caps_reserve does.
create or replace function caps_refund(p_developer_id text, p_id text) returns text language plpgsql as
$$
declare
  its record;
begin
  if current_setting('transaction_isolation') <> 'read committed' then
    raise exception 'caps_refund needs the isolation level read committed' using errcode = '25001';
  end if;
  select c.charges into its from caps_call c where c.developer_id = p_developer_id and c.id = p_id;
  if not found then return null; end if;
  perform from caps_counter c where c.developer_id = p_developer_id
    and c.key in (select x ->> 'key' from jsonb_array_elements(its.charges) x) order by c.key for update;
  select c.state, c.charges into its from caps_call c
    where c.developer_id = p_developer_id and c.id = p_id for update;
  if not found then return null; end if;
  if its.state <> 'held' then return its.state; end if;

  with charged as (
    select x.key, x.units, x.expires_ms
      from jsonb_to_recordset(its.charges) x(key text, units bigint, expires_ms bigint)
  ), timed as (
    update caps_slot s set units = s.units - x.units from charged x
      where s.developer_id = p_developer_id and s.key = x.key and s.expires_ms = x.expires_ms
      returning s.key, x.units
  ), back as (
    select t.key, t.units from timed t union all select x.key, x.units from charged x where x.expires_ms is null
  )
  update caps_counter c set used = greatest(0, c.used - b.units) from back b
    where c.developer_id = p_developer_id and c.key = b.key;
  update caps_call c set state = 'refunded' where c.developer_id = p_developer_id and c.id = p_id;
  return 'held';
end
$$;
