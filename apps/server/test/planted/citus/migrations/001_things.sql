create table things (developer_id text not null, id text not null, parent_id text, size bigint, primary key (developer_id, id));
create table parts (developer_id text not null, id text not null, primary key (developer_id, id));
