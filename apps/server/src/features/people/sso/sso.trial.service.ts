import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { readKeySet } from '../../vault/providers/index.ts';
import type { SsoDeps } from './sso.deps.service.ts';
import { tryDirectory } from './sso.ldap.service.ts';
import { issuerMetadata, tryClient } from './sso.oidc.service.ts';
import { idpBroken } from './sso.outcomes.service.ts';
import { type ConnectionRow, findConnection, noteSuccess } from './sso.repo.ts';
import { shownCertificates, unexpired } from './sso.rules.ts';
import type { SsoTest } from './sso.schema.ts';
import { membersOf } from './sso.secrets.service.ts';

/** The repair of each failure, for an administrator. */
export const ADVICE: Readonly<Record<string, string>> = {
  timeout: 'The server did not answer within 10 seconds. Look at its firewall.',
  connection_failed: 'Nothing answers at this address. Look at the host and the port.',
  dns_failed: 'The name of the host is not in the DNS. Look for a typing error.',
  tls_failed: 'The certificate of the server is not trusted, has expired, or is for another name.',
  blocked_address: 'The address is private, or not `https`. The provider has to be on the public internet.',
  too_large: 'The metadata are larger than 1 MiB.',
  no_metadata:
    'There is no discovery document. Open `<issuerUrl>/.well-known/openid-configuration` in a browser.',
  issuer_mismatch:
    'The discovery document names another `issuer`. Copy that one to `issuerUrl`, byte for byte.',
  unusable_endpoints: 'The discovery document lacks an endpoint, or the response type `code`.',
  unusable_id_token: 'The provider signs no ID tokens with an asymmetric algorithm, or publishes no keys.',
  unusable_pkce: 'The provider lists ways of PKCE that the service does not do.',
  no_keys: 'The discovery document names a `jwks_uri`, and it does not answer with a set of keys.',
  certificate_expired: 'Every certificate has expired. Add the one that the provider signs with now.',
  invalid_client:
    'The provider refused `clientId` with `clientSecret`. Copy both again, or make another secret.',
  bind: 'The directory refused `ldapBindDn` with its password.',
  start_tls: 'The directory refused to begin TLS. Turn it on there, or use `ldaps:`.',
  search_base: 'The search base does not exist, or the bind DN may not read it.',
};

/** Tries a connection. A failure is an answer, which says what to do. @throws NOT_FOUND */
export async function testConnection(deps: SsoDeps, { tenant }: Caller, id: string): Promise<SsoTest> {
  const row = await findConnection(deps.db, tenant, id);
  if (!row) throw notFound();
  try {
    const found = await tried(deps, row);
    await inTransaction(deps.db, (tx) => noteSuccess(tx, tenant, id, { lastTestedAt: deps.clock() }));
    return { success: true, protocol: row.protocol, ...found };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    const reason = String(error.details?.reason ?? 'failed');
    const message = ADVICE[reason] ?? 'The identity provider cannot be used.';
    return { success: false, protocol: row.protocol, error: reason, message };
  }
}

/** @throws SSO_ERROR */
async function tried(deps: SsoDeps, row: ConnectionRow): Promise<Partial<SsoTest>> {
  const members = membersOf(row);
  if (row.protocol === 'ldap') return { bind: true, searchBase: await tryDirectory(deps, row) };
  if (row.protocol === 'saml') {
    const { idpEntityId = '', idpSsoUrl = '', idpCertificates = [] } = members;
    const [certificate] = shownCertificates(unexpired(idpCertificates, deps.clock()));
    if (!certificate) throw idpBroken('certificate_expired');
    return { idpEntityId, idpSsoUrl, certificateExpiresAt: certificate.notAfter };
  }
  const { found } = await issuerMetadata(deps, members.issuerUrl ?? '', { isFresh: true });
  const { issuer, authorizationEndpoint, tokenEndpoint, jwksUri } = found;
  if (!(await readKeySet(deps.upstream, found))) throw idpBroken('no_keys');
  await tryClient(deps, row);
  return { issuer: issuer ?? '', authorizationEndpoint, tokenEndpoint, jwksUri: jwksUri ?? '' };
}
