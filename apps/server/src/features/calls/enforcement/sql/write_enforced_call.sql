-- The write of an allowed call, whose entry commits together with it: no such entry follows that of a stop. With a
-- `callId` it notes that the caps meter has taken the units of the call.
create or replace function write_enforced_call(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql as
$$
begin
  if not account_runs(p_developer_id) then return 'stopped'; end if;
  if p_write ? 'callId' then
    insert into enforced_calls (developer_id, call_id, agent_id, grant_id, created_at)
      values (p_developer_id, p_write ->> 'callId', p_write ->> 'agentId', p_write ->> 'grantId', p_at)
      on conflict (developer_id, call_id, agent_id) do update set created_at = excluded.created_at;
  end if;
  return null;
end
$$;
