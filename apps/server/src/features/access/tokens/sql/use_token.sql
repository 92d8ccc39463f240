-- Every verification reads a token with its grant and agent as they are now. For a valid token the grant's last use is
-- set, once a minute at most, and never while another transaction locks the grant, since the time is not worth a wait.
-- This is a function because Postgres keeps its plans: planning took four times as long as the lookup. Postgres keeps
-- them while the tables grow, so enable_seqscan excludes plans that suit only small tables.
create or replace function use_token(p_developer_id text, p_token_id text, p_at timestamptz)
  returns table (held grants, token tokens, agent_did text, agent_status agent_status)
  language plpgsql set enable_seqscan = off as
$$
begin
  select * into token from tokens t where t.developer_id = p_developer_id and t.id = p_token_id;
  if not found then return; end if;
  -- A token that was got in exchange for another ends with that one.
  if token.subject_token_id is not null and token.revoked_at is null then
    select t.revoked_at into token.revoked_at from tokens t
      where t.developer_id = p_developer_id and t.id = token.subject_token_id;
  end if;
  select * into held from grants g where g.developer_id = p_developer_id and g.id = token.grant_id;
  select a.did, standing(p_developer_id, a.status, d.stopped_at) into agent_did, agent_status
    from agents a join developers d on d.id = p_developer_id
    where a.developer_id = p_developer_id and a.id = held.agent_id;
  -- The grants of a deactivated principal count as revoked, even where the deactivation came before the grant.
  if not principal_active(p_developer_id, held.principal_id) then held.status := 'revoked'; end if;
  return next;

  if held.status = 'active' and agent_status = 'active' and token.revoked_at is null and token.expires_at > p_at
    and (held.last_used_at is null or held.last_used_at <= p_at - interval '1 minute') then
    perform from grants where developer_id = p_developer_id and id = held.id for no key update skip locked;
    if found then
      update grants set last_used_at = p_at where developer_id = p_developer_id and id = held.id;
    end if;
  end if;
end
$$;
