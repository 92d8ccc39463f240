-- Leases due deliveries of a lane to the caller. Over all instances, an endpoint has at most five leases in
-- the lane of prompt endpoints, and one lease in the other lane. Endpoints take turns: the search begins
-- after (p_after_developer, p_after_webhook) and wraps around. When an endpoint is no longer prompt, its
-- deliveries in the prompt lane move to the other lane. When it was deleted meanwhile, its deliveries fail.
-- Both happen to a limited number at a time. The endpoint's lock keeps the number of its leases exact; an
-- endpoint that another instance has locked is left to that instance.
create or replace function claim_webhook_deliveries(p_at timestamptz, p_lease interval, p_is_prompt boolean,
  p_limit integer, p_after_developer text, p_after_webhook text)
  returns table (developer_id text, webhook_id text, id text, event_id text, event_type text, envelope text,
    attempts integer, max_attempts integer, leased_until timestamptz, url text, secret bytea, previous_secret bytea,
    previous_secret_expires_at timestamptz)
  language plpgsql set plan_cache_mode = force_generic_plan as
$$
#variable_conflict use_column
declare
  dev      text := p_after_developer;
  hook     text := p_after_webhook;
  is_again boolean := false;
  endpoint webhook_endpoints;
  room     integer;
  taken    integer;
begin
  while p_limit > 0 loop
    select d.developer_id, d.webhook_id into dev, hook from webhook_deliveries d
      where d.status = 'pending' and d.is_prompt = p_is_prompt and d.next_attempt_at <= p_at
        and (d.developer_id, d.webhook_id) > (dev, hook)
      order by d.developer_id, d.webhook_id limit 1;
    if not found then
      exit when is_again;
      is_again := true; dev := ''; hook := '';
      continue;
    end if;
    exit when is_again and (dev, hook) > (p_after_developer, p_after_webhook);

    select * into endpoint from webhook_endpoints e
      where e.developer_id = dev and e.id = hook and e.status = 'active' for no key update skip locked;
    if not found then
      if not exists (select from webhook_endpoints e where e.developer_id = dev and e.id = hook) then
        perform fail_webhook_deliveries(dev, hook, p_is_prompt, null);
      end if;
      continue;
    end if;
    if p_is_prompt and not endpoint.is_prompt then
      perform move_webhook_deliveries(dev, hook, false);
      continue;
    end if;

    select case when p_is_prompt then 5 else 1 end - count(*) into room from webhook_deliveries d
      where d.developer_id = dev and d.webhook_id = hook and d.leased_until > p_at;
    continue when room <= 0;
    return query
      with due as (
        select d.id from webhook_deliveries d
        where d.developer_id = dev and d.webhook_id = hook and d.status = 'pending' and d.is_prompt = p_is_prompt
          and d.next_attempt_at <= p_at and (d.leased_until is null or d.leased_until <= p_at)
        order by d.next_attempt_at, d.id limit least(room, p_limit) for update skip locked
      )
      update webhook_deliveries d set leased_until = p_at + p_lease from due
      where d.developer_id = dev and d.webhook_id = hook and d.id = due.id
      returning d.developer_id, d.webhook_id, d.id, d.event_id, d.event_type, d.envelope, d.attempts, d.max_attempts,
        d.leased_until, endpoint.url, endpoint.secret, endpoint.previous_secret, endpoint.previous_secret_expires_at;
    get diagnostics taken = row_count;
    p_limit := p_limit - taken;
  end loop;
end
$$;
