-- Whether a grant token may still call: before each call, and again and again while a stream of events is open.
create or replace function is_proxy_token_live(p_developer_id text, p_token_id text, p_at timestamptz)
  returns boolean
  language plpgsql stable set enable_seqscan = off as
$$
begin
  perform from tokens t
    join grants g on g.developer_id = p_developer_id and g.id = t.grant_id
    join agents a on a.developer_id = p_developer_id and a.id = g.agent_id
    where t.developer_id = p_developer_id and t.id = p_token_id and t.revoked_at is null and t.expires_at > p_at
      and g.status = 'active' and g.expires_at > p_at and a.status = 'active'
      and principal_active(p_developer_id, g.principal_id);
  return found;
end
$$;
