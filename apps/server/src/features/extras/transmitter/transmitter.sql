-- Registrations of receivers of one developer take turns, so that their number is exact.
create or replace function lock_receivers(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('ssf:' || p_developer_id, 0)) $$;
