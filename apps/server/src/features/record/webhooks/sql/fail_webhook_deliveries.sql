-- Fails waiting deliveries of a lane for a deleted endpoint, a limited number at a time: a webhook that was
-- disabled for a month may have millions, and its deletion must not be one long statement. Deliveries that
-- are being sent come first, because their sender must find the lease gone. The array makes Postgres look the
-- rows up once and by the indexes, even before the table is analysed.
create or replace function fail_webhook_deliveries(p_developer_id text, p_webhook_id text, p_is_prompt boolean, p_url text)
  returns void language sql set plan_cache_mode = force_generic_plan set enable_seqscan = off
  set enable_bitmapscan = off set enable_sort = off as
$$
  update webhook_deliveries d
  set status = 'failed', last_error = 'endpoint_deleted', next_attempt_at = null, leased_until = null,
    url = coalesce(p_url, d.url)
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = any (array(
    (select o.id from webhook_deliveries o
      where o.leased_until is not null and o.status = 'pending' and o.is_prompt = p_is_prompt
        and o.developer_id = p_developer_id and o.webhook_id = p_webhook_id)
    union all
    (select o.id from webhook_deliveries o
      where o.status = 'pending' and o.is_prompt = p_is_prompt
        and o.developer_id = p_developer_id and o.webhook_id = p_webhook_id
      order by o.next_attempt_at limit 1000)))
$$;
