-- Owner: platform. By default Postgres gathers statistics anew once a tenth of a table has changed, and vacuums it once
-- a fifth has. On tables of millions of rows, that is after hundreds of thousands of writes: until then an account that
-- grows is missing from the statistics, and each look-up of a grant or a counter walks over the dead versions of its row.
-- So the tables that every call writes are analysed at 2 % and vacuumed at 5 %. The small ones, of which one row changes
-- all the time, are vacuumed at a fixed number of dead rows.
do $$
declare
  hot text;
begin
  foreach hot in array array['agents', 'audit_entries', 'auth_requests', 'budget_allocations', 'budget_entries',
      'budget_transactions', 'grants', 'outbox_events', 'refresh_tokens', 'tokens', 'vault_credentials',
      'webhook_deliveries'] loop
    execute format('alter table %I set (autovacuum_analyze_scale_factor = 0.02, autovacuum_vacuum_scale_factor = 0.05)', hot);
  end loop;
  foreach hot in array array['audit_heads', 'caps_counter', 'quota_counters'] loop
    execute format('alter table %I set (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000)', hot);
  end loop;
end
$$;
