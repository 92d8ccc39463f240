-- Owner: anomalies. When detection looks at an account although no entry has come: in each round since the epoch, not at all
-- without a time. Accounts that are there are looked at once more.
alter table anomaly_states add column due_at timestamptz default 'epoch';
