-- Owner: other. Of thing, by its declaration.
create table agents (id text primary key);

-- Owner: thing. Of both, by their declarations.
create table agent_index (id text primary key);

-- Owner: other.
create table developers (id text primary key, things bigint);

-- Owner: other. Nobody declares it.
create table api_keys (id text primary key);

create function misplaced() returns integer language sql as $$ select 1 $$;
