-- Leases due deliveries of a lane: for each developer at most p_places of them. The endpoints of a developer
-- take turns: the search begins after the endpoint in p_after_webhooks, and wraps around. When an endpoint is
-- no longer prompt, its deliveries in the prompt lane move to the slow lane. When it was deleted meanwhile,
-- its deliveries fail. Both happen to a limited number at a time. The endpoint's lock keeps the number of its
-- leases exact over all instances; an endpoint that another instance has locked is left to that instance. Only
-- the first signal of each subject is leased. The array makes Postgres look the rows up by the indexes, even before
-- the table is analysed.
create or replace function claim_delivery_shares(p_at timestamptz, p_lease interval, p_is_prompt boolean,
  p_developers text[], p_after_webhooks text[], p_places integer[])
  returns table (developer_id text, webhook_id text, id text, event_id text, event_type text, envelope text,
    attempts integer, max_attempts integer, leased_until timestamptz, url text, secret bytea, previous_secret bytea,
    previous_secret_expires_at timestamptz, format webhook_format, is_set boolean, actor text, txn text)
  language plpgsql set plan_cache_mode = force_generic_plan as
$$
#variable_conflict use_column
declare
  share    record;
  dev      text;
  hook     text;
  places   integer;
  is_again boolean;
  endpoint webhook_endpoints;
  room     bigint;
  taken    integer;
begin
  for share in
    select s.* from unnest(p_developers, p_after_webhooks, p_places) as s (developer_id, after_webhook, places)
  loop
    dev := share.developer_id; hook := share.after_webhook; places := share.places; is_again := false;
    while places > 0 loop
      select d.webhook_id into hook from webhook_deliveries d
        where d.status = 'pending' and d.is_prompt = p_is_prompt and d.next_attempt_at <= p_at
          and d.developer_id = dev and d.webhook_id > hook
        order by d.webhook_id limit 1;
      if not found then
        exit when is_again;
        is_again := true; hook := '';
        continue;
      end if;
      exit when is_again and hook > share.after_webhook;

      select * into endpoint from webhook_endpoints e
        where e.developer_id = dev and e.id = hook
          and (e.status = 'active' or (e.stream_state in ('open', 'holding') and e.url <> '')) for no key update skip locked;
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

      room := free_webhook_leases(dev, hook, p_is_prompt, endpoint.last_delivery_at, p_at);
      continue when room <= 0;
      return query
        update webhook_deliveries d set leased_until = p_at + p_lease
        where d.developer_id = dev and d.webhook_id = hook and d.id = any (array(
          select o.id from webhook_deliveries o
          where o.developer_id = dev and o.webhook_id = hook and o.status = 'pending' and o.is_prompt = p_is_prompt
            and o.next_attempt_at <= p_at and (o.leased_until is null or o.leased_until <= p_at)
            and (o.seq is null or may_send_set(dev, hook, endpoint.stream_state, o.event_type, o.subject, o.seq, o.id))
          order by o.next_attempt_at limit least(room, places) for update skip locked))
        returning d.developer_id, d.webhook_id, d.id, d.event_id, d.event_type, d.envelope, d.attempts,
          d.max_attempts, d.leased_until, endpoint.url, endpoint.secret, endpoint.previous_secret,
          endpoint.previous_secret_expires_at, endpoint.format,
          endpoint.stream_state is not null, d.actor, d.txn;
      get diagnostics taken = row_count;
      places := places - taken;
    end loop;
  end loop;
end
$$;
