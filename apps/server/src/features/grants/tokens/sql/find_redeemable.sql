-- The facts that decide POST /v1/token: the request, its agent, and the grant that was made from the request, if any.
-- Every read of these flows is a function, because Postgres keeps its plans. Postgres keeps them while the tables grow,
-- so enable_seqscan excludes plans that suit only small tables.
create or replace function find_redeemable(p_developer_id text, p_request_id text)
  returns table (request auth_requests, agent_did text, agent_status agent_status,
    grant_id text, grant_status grant_status, grant_issued_at timestamptz, policies_version bigint)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into request from auth_requests r where r.developer_id = p_developer_id and r.id = p_request_id;
  if not found then return; end if;
  select a.did, standing(p_developer_id, a.status, d.stopped_at) into agent_did, agent_status
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = request.agent_id;
  select g.id, g.status, g.issued_at into grant_id, grant_status, grant_issued_at
    from grants g where g.developer_id = p_developer_id and g.auth_request_id = p_request_id;
  policies_version := policies_version(p_developer_id);
  return next;
end
$$;
