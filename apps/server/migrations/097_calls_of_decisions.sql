-- The id of the call for which a request was made. The repetition of that call finds the request, whatever became of it.
alter table decisions add column asked_call_id text;
-- The request of a call: of the one that uses its approvals, and before any use of the one that asked.
create index decisions_call on decisions (developer_id, grant_id, coalesce(call_id, asked_call_id), id)
  where coalesce(call_id, asked_call_id) is not null;
-- The refusal of the same call.
create index decisions_denied on decisions (developer_id, grant_id, action_hash, id) where status = 'denied';
