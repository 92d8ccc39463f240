-- Begins a developer's counters from zero in a new epoch, after counters were lost.
create or replace function caps_reset(p_developer_id text, p_epoch text) returns void language plpgsql as
$$
begin
  insert into caps_epoch as e (developer_id, epoch) values (p_developer_id, p_epoch)
    on conflict (developer_id) do update set epoch = excluded.epoch;
  delete from caps_counter c where c.developer_id = p_developer_id;
  delete from caps_slot s where s.developer_id = p_developer_id;
  delete from caps_call c where c.developer_id = p_developer_id;
end
$$;
