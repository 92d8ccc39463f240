-- Writes tables of other alone. No statement calls it, and a second file defines it too.
create or replace function thing_count(p_id text) returns void language plpgsql as
$$
begin
  update developers set things = things + 1 where id = p_id;
end
$$;
