-- Delegations and revocations of one developer take turns, so that a tree cannot grow between the read and the write of
-- its revocation. The lock has no ids; a group of hot writes gives none.
create or replace function lock_delegation(p_developer_id text, p_ids text[] default null) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('delegation:' || p_developer_id, 0)) $$;
