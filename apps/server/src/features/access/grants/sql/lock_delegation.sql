-- Delegating and revoking take turns, developer by developer, so that a tree that was walked cannot grow a branch
-- before it is cut.
create or replace function lock_delegation(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('delegation:' || p_developer_id, 0)) $$;
