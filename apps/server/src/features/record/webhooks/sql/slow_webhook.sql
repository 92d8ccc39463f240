-- Moves an endpoint to the slow lane, with deliveries that wait for it, while an attempt is still under way.
create or replace function slow_webhook(p_developer_id text, p_webhook_id text) returns void language plpgsql as
$$
begin
  update webhook_endpoints e set is_prompt = false
    where e.developer_id = p_developer_id and e.id = p_webhook_id and e.is_prompt;
  perform move_webhook_deliveries(p_developer_id, p_webhook_id, false);
end
$$;
