create or replace function thing_count(p_id text) returns bigint language sql as
$$ select things from developers where id = p_id $$;
