-- Whether a person has to be asked before this agent gets another grant for them: the last grant that they decided
-- themselves, or else the last of all, has to be renewed.
create or replace function pair_needs_renewal(p_developer_id text, p_agent_id text, p_principal_id text, p_at timestamptz)
  returns boolean
  language plpgsql stable set enable_seqscan = off as
$$
declare
  last_id text;
begin
  select g.id into last_id from grants g
    where g.developer_id = p_developer_id and g.principal_id = p_principal_id and g.agent_id = p_agent_id
      and g.parent_grant_id is null
    order by g.consent_method in ('developer', 'email', 'sso', 'passkey') desc, g.issued_at desc, g.id desc limit 1;
  if last_id is null then return false; end if;
  return renewal_causes(p_developer_id, last_id, p_at) <> '{}'
    or exists (select from grant_renewals n where n.developer_id = p_developer_id and n.grant_id = last_id);
end
$$;
