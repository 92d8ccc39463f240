-- Fails waiting signals of a stream that are older than p_before or beyond the newest p_most, a limited number at a time.
create or replace function drop_sets(p_developer_id text, p_webhook_id text, p_before timestamptz, p_most bigint)
  returns integer language plpgsql set plan_cache_mode = force_generic_plan as
$$
declare
  last_beyond bigint;
  dropped     integer;
begin
  select o.seq into last_beyond from webhook_deliveries o
    where o.developer_id = p_developer_id and o.webhook_id = p_webhook_id and o.status = 'pending' and o.seq is not null
    order by o.seq desc offset p_most limit 1;
  update webhook_deliveries d
  set status = 'failed', last_error = 'set_dropped', next_attempt_at = null, leased_until = null, url = ''
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = any (array(
    select o.id from (select * from webhook_deliveries o
      where o.developer_id = p_developer_id and o.webhook_id = p_webhook_id and o.status = 'pending'
        and o.seq is not null
      order by o.seq, o.id limit 1000) o
    where o.created_at < p_before or o.seq <= last_beyond));
  get diagnostics dropped = row_count;
  return dropped;
end
$$;
