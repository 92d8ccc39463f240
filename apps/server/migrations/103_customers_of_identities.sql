-- Owner: sso. The customer whom the identity assertion named that made an identity, at an issuer which serves several. Null
-- for a login, and for a provider of one customer.
alter table sso_identities add column tenant text;
