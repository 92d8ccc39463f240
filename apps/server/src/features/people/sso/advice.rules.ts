import type { GroupsFault } from './claims.rules.ts';

/** The repair of groups that could not be read, for the administrator of a provider. */
export const GROUPS_ADVICE: Readonly<Record<GroupsFault, string>> = {
  overage:
    'The provider left out the groups of this person, because they are too many. At Entra ID set “Groups assigned to the application” in the groups claim, or use app roles with `groupAttribute` `roles`.',
  range:
    'The directory sent only a part of the groups of this person (`range=`). Set `ldapGroupSearchBase` in place of `groupAttribute`.',
  size_limit:
    'The directory found more groups than it sends at once. Narrow `ldapGroupSearchBase` or `ldapGroupSearchFilter`, or raise its size limit.',
  too_many:
    'This person is in more than 1,000 groups. Let the provider send only those groups that `groupMappings` names.',
  too_long:
    'A group of this person has a name of more than 1,024 characters. Let the provider send only those groups that `groupMappings` names.',
  form: 'The groups of this person are no list of names. Point `groupAttribute` at a list of texts, such as `realm_access.roles`.',
  userinfo:
    'The ID token names no groups, and the provider’s userinfo endpoint gave no answer about this person. Add the groups to the ID token.',
};

/** The repair of each failure, for the administrator of a connection: of a test, and of a login that was refused. */
export const ADVICE: Readonly<Record<string, string>> = {
  timeout: 'The server did not answer within 10 seconds. Look at its firewall.',
  connection_failed: 'Nothing answers at this address. Look at the host and the port.',
  dns_failed: 'The name of the host is not in the DNS. Look for a typing error.',
  tls_failed: 'The certificate of the server is not trusted, has expired, or is for another name.',
  blocked_address: 'The address is private, or not `https`. The provider has to be on the public internet.',
  no_metadata:
    'There is no discovery document. Open `<issuerUrl>/.well-known/openid-configuration` in a browser.',
  issuer_mismatch:
    'The discovery document names another `issuer`. Copy that one to `issuerUrl`, byte for byte.',
  issuer_of_any_tenant:
    'This is the provider’s address for all its customers, whose issuer has a placeholder for the tenant. Set `issuerUrl` to the issuer of your own tenant, such as `https://login.microsoftonline.com/<tenant id>/v2.0`.',
  unusable_endpoints: 'The discovery document lacks an endpoint, or the response type `code`.',
  unusable_id_token: 'The provider signs no ID tokens with an asymmetric algorithm, or publishes no keys.',
  unusable_pkce: 'The provider lists ways of PKCE that the service does not do.',
  no_keys: 'The discovery document names a `jwks_uri`, and it does not answer with a set of keys.',
  no_tokens: 'The token endpoint of the provider failed, or answered with no JSON.',
  invalid_client:
    'The provider refused `clientId` with `clientSecret`. Copy both again, or make another secret.',

  code: 'The provider refused the code: it was used, was too old, or was for another redirect URI. Begin again.',
  refused_by_provider: 'The person declined, or the provider does not let this person use the application.',
  issuer:
    'The answer is from another provider than the connection’s. Compare the issuer or entity id, byte for byte.',
  auth_time:
    'The person signed in at the provider longer ago than was asked, or the provider does not say when.',
  id_token_missing: 'The provider sent no ID token. Allow the scope `openid` to the application there.',
  id_token_malformed: 'The ID token is not a signed JWT. Turn its encryption off.',
  id_token_algorithm:
    'The ID token is signed with an algorithm that the provider’s discovery document does not list, or with a shared secret. Choose RS256 or ES256.',
  id_token_key:
    'The ID token names a key that `jwks_uri` does not have. The provider’s keys may have changed within the last minute; begin again.',
  id_token_signature: 'The signature of the ID token is wrong for the keys at `jwks_uri`.',
  id_token_issuer:
    'The ID token names another `iss` than `issuerUrl`. At Entra ID set `accessTokenAcceptedVersion` to 2 and use the issuer that ends in `/v2.0`.',
  id_token_audience:
    'The ID token is for another application. Compare `clientId` with the application at the provider.',
  id_token_nonce: 'The ID token is for another login, or has no `nonce`. Begin again.',
  id_token_expired: 'The ID token has expired. Set the clock of the provider; 60 seconds are tolerated.',
  id_token_too_old: 'The ID token was made more than 10 minutes ago. Set the clock of the provider.',
  id_token_not_yet_valid:
    'The ID token begins to hold in the future (`nbf`, `iat`). Set the clock of the provider; 60 seconds are tolerated.',
  id_token_claim:
    'The ID token lacks a claim that it has to have: `sub`, `iss`, `aud`, `exp`, `iat` or `nonce`.',
  id_token_at_hash: 'The ID token belongs to another access token (`at_hash`).',

  xml: 'The answer is not XML that the service reads: it has a document type, a processing instruction or a CDATA section.',
  root: 'The form holds something else than a SAML response.',
  too_large: 'The answer or the metadata are too large. The limits are in the configuration guide.',
  comment: 'There is a comment in the assertion or in a signature. Let the provider write none there.',
  assertions: 'The answer has no assertion, or several. Let the provider send one.',
  encrypted: 'The assertion is encrypted. Turn the encryption of assertions off at the provider.',
  ids: 'Two elements of the answer have one id, or an id has odd characters.',
  unsigned: 'The assertion is not signed. Let the provider sign the assertion itself, not only the response.',
  wrapping:
    'A signature covers something else than the assertion or the response. Let the provider sign the assertion once.',
  algorithm:
    'The signature is by a weak algorithm. Choose SHA-256 and exclusive canonicalization at the provider.',
  status: 'The provider answered with a failure in the place of an assertion. Its log says why.',
  destination:
    'The answer is for another address. Compare `spAcsUrl` with the ACS URL at the provider, byte for byte.',
  recipient:
    'The assertion is for another address. Compare `spAcsUrl` with the ACS URL at the provider, byte for byte.',
  audience:
    'The assertion is for another service. Compare `spEntityId` with the entity id at the provider, byte for byte.',
  in_response_to: 'The answer is to another request, or to none. Begin at `/sso/login`, not at the provider.',
  subject: 'The assertion has no name id. Let the provider send one, such as a stable id or the address.',
  confirmation: 'The assertion has no bearer confirmation that names its recipient and its end.',
  not_yet_valid:
    'The assertion begins to hold in the future. Set the clock of the provider; 60 seconds are tolerated.',
  expired: 'The assertion has expired. Set the clock of the provider; 60 seconds are tolerated.',
  conditions: 'The assertion has no conditions. Let the provider send an audience and a time.',
  signature: 'The signature of the assertion is wrong: the assertion was altered on its way.',
  certificate_unknown:
    'The provider signed with a certificate that the connection does not have. Add it to `idpCertificate`.',
  certificate_expired:
    'Every certificate that may have signed has expired. Add the one that the provider signs with now.',
  assertion_used: 'The assertion was used before. Begin again.',

  password: 'The directory refused this password.',
  empty_password: 'Nobody signs in without a password.',
  unknown_user: 'The search filter finds nobody of this name below the search base.',
  ambiguous_entry: 'The search filter finds several entries for this name. Narrow it.',
  password_expired: 'The password of this person has expired. They change it in the directory.',
  password_must_change: 'This person has to change the password in the directory before it counts.',
  account_disabled: 'The account of this person is disabled in the directory.',
  account_expired: 'The account of this person has expired in the directory.',
  account_locked: 'The directory has locked this account after too many wrong passwords (code 19 or 775).',
  logon_hours: 'The directory does not let this person sign in at this time.',
  workstation: 'The directory does not let this person sign in from this machine.',
  unwilling_to_perform:
    'The directory is unwilling to check this password (code 53). The account may be inactive, or a policy forbids it.',
  tls_required: 'The directory takes passwords only over TLS. Use `ldaps:`, or set `ldapTlsEnabled`.',
  bind: 'The directory refused `ldapBindDn` with its password.',
  bind_dn:
    '`ldapBindDn` is not a name that the directory reads. Send a DN, or `user@domain` at Active Directory.',
  bind_password_expired: 'The password of `ldapBindDn` has expired. Set another one, without an end.',
  bind_password_must_change: 'The password of `ldapBindDn` has to be changed in the directory first.',
  bind_account_disabled: 'The account of `ldapBindDn` is disabled in the directory.',
  bind_account_expired: 'The account of `ldapBindDn` has expired in the directory.',
  bind_account_locked: 'The directory has locked the account of `ldapBindDn` after too many wrong passwords.',
  bind_logon_hours: 'The directory does not let `ldapBindDn` sign in at this time.',
  bind_workstation: 'The directory does not let `ldapBindDn` sign in from this machine.',
  bind_unwilling_to_perform:
    'The directory is unwilling to bind `ldapBindDn` (code 53). The account may be inactive, or a policy forbids it.',
  bind_method: 'The directory does not allow `ldapBindDn` to sign in with a password (code 7 or 48).',
  unavailable: 'The directory is busy or shuts down. Try again later.',
  start_tls: 'The directory refused to begin TLS. Turn it on there, or use `ldaps:`.',
  search_base: 'The search base does not exist, or the bind DN may not read it.',
  search: 'The directory refused the search. Look at `ldapSearchBase` and `ldapSearchFilter`.',
  group_search: 'The directory refused the search for groups. Look at `ldapGroupSearchBase` and its filter.',
  search_access: '`ldapBindDn` may not read this part of the directory (code 50). Give it the right to.',
  search_limit: 'The search took longer, or found more, than the directory allows. Narrow the search base.',
};
