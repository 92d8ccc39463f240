-- Moves waiting deliveries of an endpoint to the lane p_is_prompt. Each call moves a limited number, because an
-- endpoint may change its lane often and its queue may be long. The array makes Postgres look the rows up by
-- the indexes, even before the table is analysed.
create or replace function move_webhook_deliveries(p_developer_id text, p_webhook_id text, p_is_prompt boolean) returns void
  language sql as
$$
  update webhook_deliveries d set is_prompt = p_is_prompt
  where d.developer_id = p_developer_id and d.webhook_id = p_webhook_id and d.id = any (array(
    select o.id from webhook_deliveries o
    where o.status = 'pending' and o.is_prompt = not p_is_prompt
      and o.developer_id = p_developer_id and o.webhook_id = p_webhook_id
    order by o.next_attempt_at limit 500 for update skip locked))
$$;
