import type { SAML } from '@node-saml/node-saml';
import type { SsoDeps } from './sso.deps.service.ts';
import type { Flight, LoginRequest } from './sso.flight.service.ts';
import type { OnceOnly } from './sso.identity.service.ts';
import { groupsIn } from './sso.oidc.service.ts';
import { authFailed, type Claimed } from './sso.outcomes.service.ts';
import type { ConnectionRow } from './sso.repo.ts';
import { type SsoMembers, unexpired } from './sso.rules.ts';
import { type Asserted, decodeResponse, envelopeFault, formFault, readAssertion } from './sso.saml.rules.ts';
import { membersOf } from './sso.secrets.service.ts';

/**
 * The library makes requests and verifies signatures. Times, audience and the request's id are checked by the service,
 * whose clock the library does not have.
 */
async function libraryFor(
  members: SsoMembers,
  certificates: readonly string[],
  { requestId, isAfresh = false }: { readonly requestId?: string; readonly isAfresh?: boolean } = {},
): Promise<SAML> {
  const { SAML: Library } = await import('@node-saml/node-saml');
  const { idpSsoUrl = '', spEntityId = '', spAcsUrl = '' } = members;
  return new Library({
    entryPoint: idpSsoUrl,
    issuer: spEntityId,
    callbackUrl: spAcsUrl,
    idpCert: [...certificates],
    audience: false,
    acceptedClockSkewMs: -1,
    wantAssertionsSigned: true,
    wantAuthnResponseSigned: false,
    disableRequestedAuthnContext: true,
    identifierFormat: null,
    forceAuthn: isAfresh,
    ...(requestId !== undefined && { generateUniqueId: () => requestId }),
  });
}

/** The address at the identity provider, with a request (SAML 2.0 Bindings, section 3.4). */
export async function samlAuthorizeUrl(
  row: ConnectionRow,
  { flight, state, isAfresh }: LoginRequest,
): Promise<string> {
  const members = membersOf(row);
  const { requestId } = flight;
  const library = await libraryFor(members, members.idpCertificates ?? [], { requestId, isAfresh });
  return library.getAuthorizeUrlAsync(state, undefined, {});
}

/** The metadata of the service as a connection's service provider. */
export async function samlMetadata(row: ConnectionRow): Promise<string> {
  const members = membersOf(row);
  const library = await libraryFor(members, members.idpCertificates ?? []);
  return library.generateServiceProviderMetadata(null);
}

/**
 * Reads who signed in from the bytes of the assertion that a configured certificate has signed.
 * @throws SSO_AUTH_FAILED
 */
export async function samlClaims(
  { clock }: Pick<SsoDeps, 'clock'>,
  row: ConnectionRow,
  { requestId }: Pick<Flight, 'requestId'>,
  response: string,
): Promise<{ claimed: Claimed; onceOnly: OnceOnly }> {
  const members = membersOf(row);
  const { idpEntityId = '', spEntityId = '', spAcsUrl = '' } = members;
  const now = clock();
  const expected = { idpEntityId, spEntityId, spAcsUrl, requestId, now };
  const xml = decodeResponse(response);
  if (typeof xml !== 'string') throw authFailed(xml.fault);
  const fault = formFault(xml) ?? envelopeFault(xml, expected);
  if (fault !== undefined) throw authFailed(fault);
  const certificates = unexpired(members.idpCertificates ?? [], now);
  if (certificates.length === 0) throw authFailed('certificate_expired');
  const asserted = readAssertion(await verifiedAssertion(members, certificates, xml), expected);
  if ('fault' in asserted) throw authFailed(asserted.fault);
  const { assertionId, expiresAt } = asserted;
  return { claimed: claimedBy(asserted, members), onceOnly: { assertionId, expiresAt } };
}

/** @throws SSO_AUTH_FAILED when no certificate has signed the assertion */
async function verifiedAssertion(
  members: SsoMembers,
  certificates: readonly string[],
  xml: string,
): Promise<string> {
  const library = await libraryFor(members, certificates);
  const SAMLResponse = Buffer.from(xml).toString('base64');
  try {
    const { profile } = await library.validatePostResponseAsync({ SAMLResponse });
    const verified = profile?.getAssertionXml?.();
    if (verified !== undefined) return verified;
  } catch {
    // Its words are about the provider's document.
  }
  throw authFailed('signature');
}

const EMAIL_FORMAT = 'urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress';
const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
const EMAIL_NAMES = [
  'email',
  'mail',
  'emailAddress',
  `${CLAIMS}/emailaddress`,
  'urn:oid:0.9.2342.19200300.100.1.3',
];
const NAME_NAMES = ['displayName', 'name', `${CLAIMS}/name`, 'urn:oid:2.16.840.1.113730.3.1.241'];

function claimedBy(
  { nameId, nameIdFormat, attributes, authTime }: Asserted,
  { groupAttribute }: SsoMembers,
): Claimed {
  const first = (names: readonly string[]) =>
    names.map((name) => attributes.get(name)?.[0]).find((value) => value !== undefined && value !== '');
  const email = first(EMAIL_NAMES) ?? (nameIdFormat === EMAIL_FORMAT ? nameId : undefined);
  return {
    subject: `${nameIdFormat}|${nameId}`,
    idpSubject: nameId,
    email: email !== undefined && email.length <= 320 ? email : null,
    name: first(NAME_NAMES)?.slice(0, 256) ?? null,
    groups: groupAttribute === null ? [] : groupsIn([...(attributes.get(groupAttribute) ?? [])]),
    authTime,
  };
}
