-- An account that its developer closed. Its rows are erased 30 days later, but for the audit chain, whose signed
-- checkpoints therefore outlive the developer's row.
alter table developers add column closed_at timestamptz;
alter table audit_checkpoints drop constraint audit_checkpoints_developer_id_fkey;
-- Finds the accounts whose rows are to be erased, across tenants and the longest closed first.
create index developers_closed on developers (closed_at) where closed_at is not null;
