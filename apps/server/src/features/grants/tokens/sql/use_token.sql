-- Every verification reads a token with its grant and agent as they are now, and why the person has to consent again. For
-- a valid token the grant's last use is set, once a minute at most, and never while another transaction locks the grant,
-- since the time is not worth a wait. This is a function because Postgres keeps its plans: planning took four times as long
-- as the lookup. Postgres keeps them while the tables grow, so enable_seqscan excludes plans that suit only small tables,
-- and `offset 0` keeps the order of the look-ups, each by a key: without statistics Postgres began at the agents.
create or replace function use_token(p_developer_id text, p_token_id text, p_at timestamptz)
  returns table (held grants, token tokens, agent_did text, agent_status agent_status, renewal_causes renewal_cause[])
  language plpgsql set enable_seqscan = off as
$$
declare
  used record;
begin
  -- One statement, because each costs more than a join of rows that are found by their keys.
  select t.it as t, g.it as g, a.did, standing(p_developer_id, a.status, d.stopped_at) as standing,
      principal_active(p_developer_id, (g.it).principal_id) as is_principal_active,
      d.reconsent_after_days is not null or d.reconsent_on_agent_change as may_need_consent
    into used
    from (select k as it from tokens k where developer_id = p_developer_id and k.id = p_token_id offset 0) t
      cross join lateral (select k as it from grants k
        where developer_id = p_developer_id and k.id = (t.it).grant_id offset 0) g
      cross join lateral (select did, status from agents
        where developer_id = p_developer_id and id = (g.it).agent_id offset 0) a
      cross join lateral (select * from developers where id = p_developer_id offset 0) d;
  if not found then return; end if;
  token := used.t;
  held := used.g;
  agent_did := used.did;
  agent_status := used.standing;
  renewal_causes := '{}';
  if used.may_need_consent then
    renewal_causes := renewal_causes(p_developer_id, held.root_grant_id, p_at);
  end if;
  -- A token that was got in exchange for another ends with that one.
  if token.subject_token_id is not null and token.revoked_at is null then
    select t.revoked_at into token.revoked_at from tokens t
      where t.developer_id = p_developer_id and t.id = token.subject_token_id;
  end if;
  -- The grants of a deactivated principal count as revoked, even where the deactivation came before the grant.
  if not used.is_principal_active then held.status := 'revoked'; end if;
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
