-- A grant with its agent's DID.
create or replace function find_grant(p_developer_id text, p_grant_id text)
  returns table (held grants, agent_did text) language plpgsql stable set enable_seqscan = off as
$$
begin
  select * into held from grants g where g.developer_id = p_developer_id and g.id = p_grant_id;
  if not found then return; end if;
  select a.did into agent_did from agents a where a.developer_id = p_developer_id and a.id = held.agent_id;
  return next;
end
$$;
