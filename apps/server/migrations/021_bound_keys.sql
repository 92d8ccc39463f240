-- A key with `agent_ids` is bound to these agents. A key that replaces another by rotation belongs to the same lineage,
-- one generation later. The first key of a lineage gives it its id, and needs none of its own.
alter table api_keys
  add column agent_ids  text[] check (cardinality(agent_ids) between 1 and 50),
  add column lineage_id text,
  add column generation integer not null default 0,
  add check (agent_ids is null or role = 'runtime');
-- The key that made the request: the code goes to this key or its successors. Null when a release before made it.
alter table auth_requests add column key_id text;
-- The agent that an event names, for consumers with a bound key.
alter table outbox_events add column agent_id text;
