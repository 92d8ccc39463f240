-- Owner: grants. When subscribers were told that a grant has run out. Nobody is told of those that had before this.
alter table grants add column expiry_told_at timestamptz;
update grants set expiry_told_at = expires_at where status = 'active' and expires_at <= now();
-- Finds those of which nobody was told, across tenants and oldest first.
create index grants_run_out on grants (expires_at) where status = 'active' and expiry_told_at is null;
