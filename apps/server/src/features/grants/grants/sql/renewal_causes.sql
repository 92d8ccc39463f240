-- Why the consent to a root grant has to be renewed by now; empty when it holds. Grants that were delegated from it ask
-- for their root, since the person consented to that. A manifest is judged call by call, and is no cause here.
create or replace function renewal_causes(p_developer_id text, p_root_grant_id text, p_at timestamptz)
  returns renewal_cause[]
  language plpgsql stable set enable_seqscan = off as
$$
declare
  after_days      smallint;
  on_agent_change boolean;
  causes          renewal_cause[];
begin
  select d.reconsent_after_days, d.reconsent_on_agent_change into after_days, on_agent_change
    from developers d where d.id = p_developer_id;
  if after_days is null and not on_agent_change then return '{}'; end if; -- as most accounts have it
  select array_remove(array[
      case when g.issued_at + after_days * interval '24 hours' <= p_at then 'age' end,
      case when on_agent_change
          and (r.shown_agent ->> 'name' <> a.name
            or r.shown_agent -> 'publicKeyJwk' <> coalesce(a.public_key_jwk, 'null')) then 'agent_changed' end
    ]::renewal_cause[], null)
    into causes
    from grants g
      join agents a on a.developer_id = p_developer_id and a.id = g.agent_id
      left join lateral (select q.shown_agent from auth_requests q
        where q.developer_id = p_developer_id and q.id = g.auth_request_id) r on true
    where g.developer_id = p_developer_id and g.id = p_root_grant_id;
  return coalesce(causes, '{}');
end
$$;
