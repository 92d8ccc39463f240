-- GET /v1/audit/entries by the reason of a denial. No developer appends entries of this action, so the text is one of a
-- short list, and a new entry comes to the end of its reason.
create index audit_entries_denial on audit_entries
  (developer_id, ((metadata ->> 'reasonCode') || coalesce('/' || (metadata ->> 'subReason'), '')), seq)
  where action = 'tool.enforce' and status = 'blocked';
