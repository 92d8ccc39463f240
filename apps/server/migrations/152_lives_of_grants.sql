-- Owner: audit. The receipt of a part of the time: it has the entries that make and end a grant whenever they were written.
create index audit_entries_life on audit_entries (developer_id, grant_id, seq) where action like 'grant.%';
