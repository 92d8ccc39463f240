-- Owner: agents. The list of a status: among 100,000 active agents, the few suspended ones are found at once.
create index agents_of_status on agents (developer_id, status, id);
