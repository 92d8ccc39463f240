-- The facts that decide POST /v1/enforce: the token with its grant and agent as `use_token` reads them, the number of
-- the connector's current manifest, whether the developer allows calls to be warned only, and the version of the
-- developer's policies.
create or replace function find_enforceable(p_developer_id text, p_token_id text, p_at timestamptz, p_connector text)
  returns table (held grants, token tokens, agent_did text, agent_status agent_status, manifest_revision integer,
    caps_mode caps_mode, policies_version bigint)
  language plpgsql set enable_seqscan = off as
$$
declare
  used record;
begin
  select u.held, u.token, u.agent_did, u.agent_status into used from use_token(p_developer_id, p_token_id, p_at) u;
  if not found then return; end if;
  held := used.held;
  token := used.token;
  agent_did := used.agent_did;
  agent_status := used.agent_status;
  select m.revision into manifest_revision
    from manifests m where m.developer_id = p_developer_id and m.connector = p_connector;
  select d.caps_mode, policies_version(p_developer_id) into strict caps_mode, policies_version
    from developers d where d.id = p_developer_id;
  return next;
end
$$;

-- Whether an agent was revoked or a principal offboarded. A function of its own sees what was committed before their locks.
create or replace function is_ended(p_developer_id text, p_parties jsonb) returns boolean
  language plpgsql set enable_seqscan = off as
$$
begin
  return principal_closed(p_developer_id, p_parties ->> 'principalId')
    or exists (select from agents where developer_id = p_developer_id and id = p_parties ->> 'agentId' and status = 'revoked');
end
$$;

-- The write of an allowed call, whose entry commits together with it: no such entry follows that of a stop, or that of the
-- end of its agent or its principal. With a `callId` it notes that the caps meter has taken the units of the call.
create or replace function write_enforced_call(p_developer_id text, p_at timestamptz, p_write jsonb)
  returns text language plpgsql as
$$
begin
  if not account_runs(p_developer_id) then return 'stopped'; end if;
  if p_write ? 'parties' then
    perform share_callers(p_developer_id, array[p_write #>> '{parties,agentId}']);
    perform share_persons(p_developer_id, array[p_write #>> '{parties,principalId}']);
    if is_ended(p_developer_id, p_write -> 'parties') then return 'stopped'; end if;
  end if;
  if p_write ? 'callId' then
    insert into enforced_calls (developer_id, call_id, agent_id, grant_id, created_at)
      values (p_developer_id, p_write ->> 'callId', p_write ->> 'agentId', p_write ->> 'grantId', p_at)
      on conflict (developer_id, call_id, agent_id) do update set created_at = excluded.created_at;
  end if;
  return null;
end
$$;
