-- Owner: tokens. A token for the vault that a resource got in exchange for one that it received: the resource, and the
-- token that it received, with which this one ends.
alter table tokens add column acting_resource_id text, add column subject_token_id text;
