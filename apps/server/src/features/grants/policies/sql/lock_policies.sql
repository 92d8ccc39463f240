-- Changes of a developer's policies take turns with each other, and with the writes that a decision lets pass. So in the
-- audit chain nothing that a policy denies follows the policy. See policies_hold.
create or replace function lock_policies(p_developer_id text) returns void language sql as
$$ select pg_advisory_xact_lock(hashtextextended('policies:' || p_developer_id, 0)) $$;
