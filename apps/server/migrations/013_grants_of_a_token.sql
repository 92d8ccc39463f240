-- A delegated grant ends with the token that it was made with.
alter type revoked_reason add value 'token_revoked';
alter table grants add column parent_token_id text;
create index grants_of_token on grants (developer_id, parent_token_id) where parent_token_id is not null;
