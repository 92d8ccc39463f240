-- The facts that decide POST /v1/authorize. The agent is null when the developer has none of this id, and a counter
-- when nothing was ever counted.
create or replace function find_asker(p_developer_id text, p_agent_id text)
  returns table (redirect_uris text[], enforce_agent_scopes boolean, consent_mode consent_mode, consent_keys jsonb,
    agent_did text, agent_status agent_status, agent_scopes text[], active_grants bigint, open_requests bigint,
    policy_auto_approval boolean, policies_version bigint)
  language plpgsql stable set enable_seqscan = off as
$$
begin
  select d.redirect_uris, d.enforce_agent_scopes, d.consent_mode, d.consent_keys, d.policy_auto_approval,
      policies_version(p_developer_id)
    into strict redirect_uris, enforce_agent_scopes, consent_mode, consent_keys, policy_auto_approval, policies_version
    from developers d where d.id = p_developer_id;
  select a.did, standing(p_developer_id, a.status, d.stopped_at), a.scopes into agent_did, agent_status, agent_scopes
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = p_agent_id;
  select c.used into active_grants
    from quota_counters c where c.developer_id = p_developer_id and c.resource = 'active_grants';
  select c.used into open_requests
    from quota_counters c where c.developer_id = p_developer_id and c.resource = 'open_requests';
  return next;
end
$$;
