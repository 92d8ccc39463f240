-- Makes the units of a held call final. Answers the state that the call had, or null for an unknown call.
create or replace function caps_sent(p_developer_id text, p_id text) returns text language plpgsql as
$$
declare
  was text;
begin
  select c.state into was from caps_call c where c.developer_id = p_developer_id and c.id = p_id for update;
  if was = 'held' then
    update caps_call c set state = 'sent' where c.developer_id = p_developer_id and c.id = p_id;
  end if;
  return was;
end
$$;
