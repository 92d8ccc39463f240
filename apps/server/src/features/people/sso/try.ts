import type { Caller } from '../../../platform/caller.ts';
import { inTransaction } from '../../../platform/db/db.ts';
import { AppError, badField, notFound } from '../../../platform/errors.ts';
import { readKeySet } from '../../vault/providers/index.ts';
import { ADVICE } from './advice.rules.ts';
import { shownCertificates, unexpired } from './certificates.rules.ts';
import type { SsoDeps } from './deps.ts';
import { tryDirectory } from './ldap.ts';
import { readSamlMetadata } from './metadata.rules.ts';
import { issuerMetadata, tryClient } from './oidc.ts';
import { idpBroken } from './outcomes.ts';
import { membersOf } from './secrets.ts';
import { type ConnectionRow, findConnection, noteSuccess } from './sso.repo.ts';
import type { SamlMetadata, SamlMetadataSource, SsoTest } from './sso.schema.ts';

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

/**
 * Reads what the metadata of an identity provider say, from their text or else from their address.
 * @throws BAD_REQUEST with what an administrator does about it
 */
export async function readMetadata(
  { upstream, clock, metadataLimit }: Pick<SsoDeps, 'upstream' | 'clock' | 'metadataLimit'>,
  { metadata, metadataUrl }: SamlMetadataSource,
): Promise<SamlMetadata> {
  if (metadata === undefined && metadataUrl === undefined) throw badField('metadataUrl', 'required');
  if (Buffer.byteLength(metadata ?? '') > metadataLimit) {
    const message = `The metadata have more than ${metadataLimit} bytes. Send the \`EntityDescriptor\` of the provider alone.`;
    throw badField('metadata', 'too_large', message);
  }
  const text = metadata ?? (await fetched(upstream, metadataUrl ?? ''));
  const read = readSamlMetadata(text, clock());
  if (!('fault' in read)) return read;
  throw badField(metadata === undefined ? 'metadataUrl' : 'metadata', 'format', read.fault);
}

/** @throws BAD_REQUEST */
async function fetched(upstream: SsoDeps['upstream'], url: string): Promise<string> {
  const answer = await upstream.ask({ url, method: 'GET', headers: { accept: 'application/xml' } });
  if (answer.failure === undefined && answer.status === 200) return answer.body.toString();
  const reason = answer.failure ?? `status ${answer.status}`;
  throw badField('metadataUrl', 'not_allowed', `The address of the metadata does not answer (${reason}).`);
}
