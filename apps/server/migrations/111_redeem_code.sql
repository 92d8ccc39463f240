-- Owner: tokens. What POST /v1/token has to know: the request, its agent, and the grant that was made of it if
-- there is one. Reads auth_requests, agents and grants. Like every function of these flows it is one because its
-- plans are kept; they are kept while the tables grow, so none may be one that is only good for small tables.
create function find_redeemable(p_developer_id text, p_request_id text)
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

-- Owner: tokens. The write of POST /v1/token. What was read before signing is checked again here, and a
-- refusal comes before the first write, since returning commits. Of many at once the first update wins; that
-- grants are unique by request is what would stop a second one even so. Also writes auth_requests and grants.
create function redeem_code(p_developer_id text, p_at timestamptz, p_grant jsonb, p_token jsonb, p_refresh jsonb,
  p_grant_limit bigint, p_max_wrong_verifiers integer, p_acts jsonb) returns text
  language plpgsql set enable_seqscan = off as
$$
declare
  new_grant grants := jsonb_populate_record(null::grants, p_grant);
  refusal   text;
begin
  perform from agents
    where developer_id = p_developer_id and id = new_grant.agent_id and status = 'active' for share;
  if not found then return 'agent_inactive'; end if;
  select case
      when status <> 'approved' then 'code_used'
      when wrong_verifiers >= p_max_wrong_verifiers then 'code_unknown'
      when code_expires_at <= p_at then 'code_expired'
    end into refusal
    from auth_requests where developer_id = p_developer_id and id = new_grant.auth_request_id for update;
  if refusal is not null then return refusal; end if;
  if not take_quota(p_developer_id, 'active_grants', p_grant_limit, p_at) then return 'over_quota'; end if;

  update auth_requests set status = 'consumed'
    where developer_id = p_developer_id and id = new_grant.auth_request_id;
  insert into grants select new_grant.*;
  insert into tokens select (jsonb_populate_record(null::tokens, p_token)).*;
  insert into refresh_tokens select (jsonb_populate_record(null::refresh_tokens, p_refresh)).*;
  perform from record_acts(p_developer_id, p_at, p_acts);
  return null;
end
$$;
