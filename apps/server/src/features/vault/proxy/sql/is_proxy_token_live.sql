-- Whether a grant token may still call: before each call, and again and again while a stream of events is open.
create or replace function is_proxy_token_live(p_developer_id text, p_token_id text, p_at timestamptz)
  returns boolean
  language plpgsql stable set enable_seqscan = off as
$$
begin
  -- `offset 0` keeps the order of the look-ups. See use_token.
  perform from (select * from tokens where developer_id = p_developer_id and id = p_token_id offset 0) t
      cross join lateral (select * from grants where developer_id = p_developer_id and id = t.grant_id offset 0) g
      cross join lateral (select status from agents where developer_id = p_developer_id and id = g.agent_id offset 0) a
      cross join lateral (select stopped_at from developers where id = p_developer_id offset 0) d
    where t.revoked_at is null and t.expires_at > p_at and g.status = 'active' and g.expires_at > p_at
      and standing(p_developer_id, a.status, d.stopped_at) = 'active'
      and principal_active(p_developer_id, g.principal_id);
  return found;
end
$$;
