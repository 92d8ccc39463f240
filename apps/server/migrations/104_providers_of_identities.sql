-- Owner: sso. The provider whose subject an identity is: the issuer, the entity id or the directory, as `providerOf` writes it.
-- Null in rows of the release before, which are of the provider that the connection has.
alter table sso_identities add column provider text;

update sso_identities identity set provider = case connection.protocol
    when 'oidc' then regexp_replace(split_part(identity.subject, '|', 1), '/$', '')
    when 'saml' then connection.settings ->> 'idpEntityId'
    else lower(regexp_replace(regexp_replace(connection.settings ->> 'ldapUrl', '^ldaps?://', ''), '(:(389|636))?/?$', '')
      || '/' || regexp_replace(connection.settings ->> 'ldapSearchBase', '\s*,\s*', ',', 'g'))
  end
  from sso_connections connection
  where connection.developer_id = identity.developer_id and connection.id = identity.connection_id;

-- The identities of a person, whom no second subject of a connection becomes.
create index sso_identities_user on sso_identities (developer_id, user_id);
