-- Notes that the caps meter has taken the units of a call. The entry of the call commits together with it.
create or replace function write_enforced_call(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql as
$$
begin
  insert into enforced_calls (developer_id, call_id, agent_id, grant_id, created_at)
    values (p_developer_id, p_write ->> 'callId', p_write ->> 'agentId', p_write ->> 'grantId', p_at)
    on conflict (developer_id, call_id, agent_id) do update set created_at = excluded.created_at;
  return null;
end
$$;
