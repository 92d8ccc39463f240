-- Owner: providers. An upstream reads the document of a client, whose address names the provider alone.
create index vault_providers_id on vault_providers (id) where client_source = 'cimd';
