-- Owner: authorization. The write of POST /v1/authorize. Reads agents, whose row it shares until the commit:
-- requests do not wait for each other, and a revocation cannot slip between check and insert.
create function request_authorization(p_developer_id text, p_at timestamptz, p_request jsonb, p_acts jsonb)
  returns text language plpgsql as
$$
declare request auth_requests := jsonb_populate_record(null::auth_requests, p_request);
begin
  perform from agents
    where developer_id = p_developer_id and id = request.agent_id and status = 'active' for share;
  if not found then return 'agent_inactive'; end if;
  insert into auth_requests select request.*;
  perform from record_acts(p_developer_id, p_at, p_acts);
  return null;
end
$$;
