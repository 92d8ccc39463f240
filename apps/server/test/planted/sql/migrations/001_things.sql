-- Owner: other. The declaration of thing claims it.
create table agents (id text primary key);

-- Owner: thing. Both declarations claim it.
create table agent_index (id text primary key);

-- Owner: other.
create table developers (id text primary key, things bigint);

-- Owner: other. No declaration claims it.
create table api_keys (id text primary key);

create function misplaced() returns integer language sql as $$ select 1 $$;

-- Owner: thing. A function of thing passes over its developer.
create table places (developer_id text, id text);
