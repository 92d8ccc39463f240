-- Lists developers with work in a lane, in the order of turns: from the first after p_after, around to p_after
-- itself, without those in p_except, and at most p_most. The search jumps from developer to developer and, in
-- one, from endpoint to endpoint, so it costs the same however many deliveries wait.
create or replace function due_webhook_developers(p_at timestamptz, p_is_prompt boolean, p_except text[],
  p_after text, p_most integer) returns setof text
  language plpgsql set plan_cache_mode = force_generic_plan as
$$
declare
  dev      text := p_after;
  hook     text;
  is_again boolean := false;
begin
  while p_most > 0 loop
    select d.developer_id into dev from webhook_deliveries d
      where d.status = 'pending' and d.is_prompt = p_is_prompt and d.next_attempt_at <= p_at and d.developer_id > dev
      order by d.developer_id limit 1;
    if not found then
      exit when is_again;
      is_again := true; dev := '';
      continue;
    end if;
    exit when is_again and dev > p_after;
    continue when dev = any (p_except);

    hook := '';
    loop
      select d.webhook_id into hook from webhook_deliveries d
        where d.status = 'pending' and d.is_prompt = p_is_prompt and d.next_attempt_at <= p_at
          and d.developer_id = dev and d.webhook_id > hook
        order by d.webhook_id limit 1;
      exit when not found;
      if webhook_has_work(dev, hook, p_is_prompt, p_at) then
        return next dev;
        p_most := p_most - 1;
        exit;
      end if;
    end loop;
  end loop;
end
$$;
