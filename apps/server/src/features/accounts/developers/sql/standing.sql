-- The status by which an agent is judged: that of its row, and `suspended` for an active one of a stopped account.
create or replace function standing(p_developer_id text, p_status agent_status) returns agent_status
  language plpgsql stable as
$$
begin
  if p_status = 'active' and exists (select from developers where id = p_developer_id and stopped_at is not null) then
    return 'suspended';
  end if;
  return p_status;
end
$$;
