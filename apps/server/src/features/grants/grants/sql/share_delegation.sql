-- Delegations run at the same time, but take turns with revocations. See lock_delegation.
create or replace function share_delegation(p_developer_id text, p_ids text[] default null) returns void language sql as
$$ select pg_advisory_xact_lock_shared(hashtextextended('delegation:' || p_developer_id, 0)) $$;
