import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, notFound } from '../../../platform/errors.ts';
import { readKeySet } from '../../vault/providers/index.ts';
import { ADVICE } from './advice.rules.ts';
import { shownCertificates, unexpired } from './certificates.rules.ts';
import type { SsoDeps } from './deps.ts';
import { tryDirectory } from './ldap.ts';
import { issuerMetadata, tryClient } from './oidc.ts';
import { idpBroken } from './outcomes.ts';
import { membersOf } from './secrets.ts';
import { type ConnectionRow, findConnection, noteSuccess } from './sso.repo.ts';
import type { SsoTest } from './sso.schema.ts';

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
    const { said } = error.details ?? {};
    const repair = ADVICE[reason] ?? 'The identity provider cannot be used.';
    const message = said === undefined ? repair : `${repair} It says \`${said}\`.`;
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
