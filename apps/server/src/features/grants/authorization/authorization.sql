-- Called by exact_use, where a plan's limit is met: the requests of the calendar month (UTC). An id begins with its time.
create or replace function count_authorizations(p_developer_id text, p_at timestamptz) returns bigint
  language sql stable as
$$
  select count(*) from auth_requests
    where developer_id = p_developer_id and id >= 'areq_' || ulid_time(date_trunc('month', p_at, 'utc'))
$$;

-- exact_use calls this when the counter has reached the plan's limit. A request that has run out counts no more, whether
-- it is recorded as expired or not.
create or replace function count_open_requests(p_developer_id text, p_at timestamptz) returns bigint language sql stable as
$$
  select count(*) from auth_requests
    where developer_id = p_developer_id and status in ('pending', 'approved')
      and coalesce(code_expires_at, expires_at) > p_at
$$;

-- The facts that decide POST /v1/authorize. The agent is null when the developer has none of this id, and a counter
-- when nothing was ever counted. One statement, because a statement of a function costs Postgres some 5 microseconds.
create or replace function find_asker(p_developer_id text, p_agent_id text)
  returns table (redirect_uris text[], enforce_agent_scopes boolean, consent_mode consent_mode, consent_keys jsonb,
    agent_did text, agent_status agent_status, agent_scopes text[], active_grants bigint, open_requests bigint,
    policy_auto_approval boolean, policies_version bigint)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  return query
    select d.redirect_uris, d.enforce_agent_scopes, d.consent_mode, d.consent_keys, a.did,
      standing(p_developer_id, a.status, d.stopped_at), a.scopes,
      (select c.used from quota_counters c where c.developer_id = p_developer_id and c.resource = 'active_grants'),
      (select c.used from quota_counters c where c.developer_id = p_developer_id and c.resource = 'open_requests'),
      d.policy_auto_approval, policies_version(p_developer_id)
    from developers d
      left join (
        select g.did, g.status, g.scopes from agents g where g.developer_id = p_developer_id and g.id = p_agent_id
      ) a on true
    where d.id = p_developer_id;
end
$$;

-- The write of POST /v1/authorize. The agent's row is locked for share until the commit: requests do not wait for each
-- other, and no revocation comes between check and insert. A proposed agent may have requests, of which the first
-- approved one makes it active. When the agent is not active, the function writes nothing
-- and returns the agent's status, which is `suspended` in a stopped account; when the plan has no room for another open
-- request, `over_quota`, or for another one in this month, `over_month`; when the principal was deactivated,
-- `principal_inactive`; when the policies are no longer those that let the request pass, `policies_changed`.
create or replace function write_request(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql as
$$
declare
  request auth_requests := jsonb_populate_record(null::auth_requests, p_write);
  current agent_status;
  proposed boolean;
begin
  select status, is_proposed into strict current, proposed from agents
    where developer_id = p_developer_id and id = request.agent_id for share;
  if current <> 'active' and not proposed then return current; end if;
  if not account_runs(p_developer_id) then return 'suspended'; end if;
  if not hold_principal(p_developer_id, request.principal_id) then return 'principal_inactive'; end if;
  if not policies_hold(p_developer_id, p_write ->> 'policies_version') then return 'policies_changed'; end if;
  if not take_quota(p_developer_id, 'open_requests', (p_write ->> 'open_limit')::bigint, p_at) then return 'over_quota'; end if;
  if not take_quota(p_developer_id, 'authorizations', (p_write ->> 'month_limit')::bigint, p_at) then
    perform release_quota(p_developer_id, 'open_requests', 1);
    return 'over_month';
  end if;
  insert into auth_requests select request.*;
  return null;
end
$$;
