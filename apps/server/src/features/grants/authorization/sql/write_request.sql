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
