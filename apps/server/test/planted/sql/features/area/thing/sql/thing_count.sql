-- Writes for other alone, is called by nothing, and is there twice.
create or replace function thing_count(p_id text) returns void language plpgsql as
$$
begin
  update developers set things = things + 1 where id = p_id;
end
$$;
