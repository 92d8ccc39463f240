-- GET /v1/audit/entries by actor: who is always the same for long stretches of a chain, so a new entry comes to the end of
-- the index. Developers may write what they like into the metadata of their own entries, so the index leaves long texts out.
create index audit_entries_actor on audit_entries (developer_id, (metadata ->> 'actor'), seq)
  where metadata ->> 'actor' is not null and length(metadata ->> 'actor') <= 128;
-- GET /v1/audit/entries by request. An id that the service gives begins with its time, so here too a new entry comes to the
-- end; ids without an order cost the chain twice its own WAL.
create index audit_entries_request on audit_entries (developer_id, request_id, seq) where request_id is not null;

-- GET /v1/authorize by agent and by principal, newest first. Every request has counted its wrong verifiers, and only the
-- list says so: all other searches by agent or principal are for open requests, and keep to the indexes of those.
create index auth_requests_agent on auth_requests (developer_id, agent_id, id)
  where agent_id is not null and wrong_verifiers >= 0;
create index auth_requests_principal on auth_requests (developer_id, principal_id, id)
  where principal_id is not null and wrong_verifiers >= 0;

-- GET /v1/agents by the beginning of a name, whatever its case: each status is a range in the order of names.
create index agents_named on agents (developer_id, status, (lower(name) collate "C"), id) where status is not null;
