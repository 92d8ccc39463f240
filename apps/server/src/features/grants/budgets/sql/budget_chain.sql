-- A grant and the grants above it, the grant first, each with its allocation if it has one. Parents never change. The
-- amounts in ten-thousandths are for instances of the release before.
create or replace function budget_chain(p_developer_id text, p_grant_id text)
  returns table (grant_id text, status grant_status, expires_at timestamptz, agent_id text, agent_did text,
    principal_id text, purpose text, allocation_id text, currency text, initial bigint, remaining bigint,
    announced smallint, initial_units numeric, remaining_units numeric)
  language plpgsql stable set enable_seqscan = off as
$$
declare next_id text := p_grant_id;
begin
  while next_id is not null loop
    grant_id := next_id;
    select g.status, g.expires_at, g.agent_id, g.principal_id, g.purpose, g.parent_grant_id
      into status, expires_at, agent_id, principal_id, purpose, next_id
      from grants g where g.developer_id = p_developer_id and g.id = grant_id;
    if not found then return; end if;
    select a.did into agent_did from agents a where a.developer_id = p_developer_id and a.id = agent_id;
    select b.id, b.currency, b.initial, b.remaining, b.announced, b.initial_units, b.remaining_units
      into allocation_id, currency, initial, remaining, announced, initial_units, remaining_units
      from budget_allocations b where b.developer_id = p_developer_id and b.grant_id = budget_chain.grant_id;
    return next;
  end loop;
end
$$;
