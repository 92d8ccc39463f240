-- Changes of a developer's people and groups take turns, so that a name is given once and a change reads what the one
-- before it wrote.
create or replace function lock_directory(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('directory:' || p_developer_id, 0)) $$;
