-- Everything that POST /v1/token has to know: the request, its agent, and the grant that was made of it if there is
-- one. A function, like every read of these flows, because its plans are kept. They are kept while the tables grow,
-- so a plan that is only good for small tables must not be among them.
create or replace function find_redeemable(p_developer_id text, p_request_id text)
  returns table (request auth_requests, agent_did text, agent_status agent_status,
    grant_id text, grant_status grant_status, grant_issued_at timestamptz)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into request from auth_requests r where r.developer_id = p_developer_id and r.id = p_request_id;
  if not found then return; end if;
  select a.did, a.status into agent_did, agent_status
    from agents a where a.developer_id = p_developer_id and a.id = request.agent_id;
  select g.id, g.status, g.issued_at into grant_id, grant_status, grant_issued_at
    from grants g where g.developer_id = p_developer_id and g.auth_request_id = p_request_id;
  return next;
end
$$;
