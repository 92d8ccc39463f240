-- How much of a resource is in use, counted where it is kept. Registered webhooks count whether or not they are
-- active.
create or replace function exact_use(p_developer_id text, p_resource text, p_at timestamptz)
  returns bigint language plpgsql stable as
$$
begin
  return case p_resource
    when 'agents' then (select count(*) from agents where developer_id = p_developer_id and status <> 'revoked')
    when 'active_grants' then (select count(*) from grants
      where developer_id = p_developer_id and status = 'active' and expires_at > p_at)
    when 'webhooks' then (select count(*) from webhook_endpoints where developer_id = p_developer_id)
  end;
end
$$;
