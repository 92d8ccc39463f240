import type { SAML } from '@node-saml/node-saml';
import { certificateOf, unexpired } from './certificates.rules.ts';
import { addressAmong, groupsOfAttributes, isCalledUnverified, nameAmong } from './claims.rules.ts';
import type { SsoDeps } from './deps.ts';
import type { Flight, LoginRequest } from './flight.ts';
import type { OnceOnly } from './identity.ts';
import { authFailed, type Claimed, mustBeRead } from './outcomes.ts';
import {
  type Asserted,
  answerFault,
  decodeResponse,
  namedCertificates,
  readAssertion,
} from './saml.rules.ts';
import { membersOf } from './secrets.ts';
import type { ConnectionRow } from './sso.repo.ts';
import type { SsoMembers } from './sso.rules.ts';

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
  { clock, responseLimit }: Pick<SsoDeps, 'clock' | 'responseLimit'>,
  row: ConnectionRow,
  { requestId }: Pick<Flight, 'requestId'>,
  response: string,
): Promise<{ claimed: Claimed; onceOnly: OnceOnly }> {
  const members = membersOf(row);
  const { domains } = row;
  const { idpEntityId = '', spEntityId = '', spAcsUrl = '' } = members;
  const now = clock();
  const expected = { idpEntityId, spEntityId, spAcsUrl, requestId, now };
  const xml = decodeResponse(response, responseLimit);
  if (typeof xml !== 'string') throw authFailed(xml.fault);
  const wrong = answerFault(xml, expected);
  if (wrong) throw authFailed(wrong.fault, wrong.said);
  const certificates = unexpired(members.idpCertificates ?? [], now);
  if (certificates.length === 0) throw authFailed('certificate_expired');
  const asserted = readAssertion(await verifiedAssertion(members, certificates, xml), expected);
  if ('fault' in asserted) throw authFailed(asserted.fault, asserted.said);
  const { assertionId, expiresAt } = asserted;
  return { claimed: claimedBy(asserted, members, domains), onceOnly: { assertionId, expiresAt } };
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
  throw authFailed(signatureFault(members, certificates, xml));
}

/** After a rollover, the provider signs with a certificate that the connection lacks, or has as an expired one. */
function signatureFault(
  { idpCertificates = [] }: SsoMembers,
  certificates: readonly string[],
  xml: string,
): 'signature' | 'certificate_unknown' | 'certificate_expired' {
  const named = namedCertificates(xml).map((text) => certificateOf(text)?.toString());
  const isNamed = (pem: string) => named.includes(pem);
  if (named.length === 0 || certificates.some(isNamed)) return 'signature';
  return idpCertificates.some(isNamed) ? 'certificate_expired' : 'certificate_unknown';
}

/** The formats of a name id that may be an address. Google, Okta and JumpCloud send it as `unspecified` unless told. */
const ADDRESS_FORMATS: ReadonlySet<string> = new Set(
  ['emailAddress', 'unspecified'].map((name) => `urn:oasis:names:tc:SAML:1.1:nameid-format:${name}`),
);
const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';

/** The names under which providers write the parts of a person, the surest first. They are found in any case. */
const EMAIL_NAMES = [
  'email',
  'mail',
  'emailAddress',
  `${CLAIMS}/emailaddress`,
  'urn:oid:0.9.2342.19200300.100.1.3',
  'urn:oid:1.2.840.113549.1.9.1',
  'urn:mace:dir:attribute-def:mail',
  'http://schemas.xmlsoap.org/claims/EmailAddress',
  ...['User.email', 'user_email', 'userEmail', 'user.mail', 'primaryEmail', 'workEmail'],
  ...['email_address', 'Email Address', 'e-mail'],
];
const NAME_NAMES = [
  'http://schemas.microsoft.com/identity/claims/displayname',
  'displayName',
  'display_name',
  'urn:oid:2.16.840.1.113730.3.1.241',
  'urn:mace:dir:attribute-def:displayName',
  ...['name', 'fullName', 'full_name', 'cn'],
  'urn:oid:2.5.4.3',
  `${CLAIMS}/name`,
];
const GIVEN_NAMES = [
  ...['givenName', 'given_name', 'firstName', 'first_name', 'User.FirstName'],
  ...[`${CLAIMS}/givenname`, 'urn:oid:2.5.4.42', 'urn:mace:dir:attribute-def:givenName'],
];
const FAMILY_NAMES = [
  ...['surname', 'sn', 'family_name', 'lastName', 'last_name', 'User.LastName'],
  ...[`${CLAIMS}/surname`, 'urn:oid:2.5.4.4', 'urn:mace:dir:attribute-def:sn'],
];

function claimedBy(
  { nameId, nameIdFormat, attributes, authTime }: Asserted,
  { emailAttribute, nameAttribute, groupAttribute }: SsoMembers,
  domains: readonly string[],
): Claimed {
  const first = (names: readonly string[]): readonly string[] =>
    names.map(attributes.valuesOf).find((values) => values.length > 0) ?? [];
  const emails = first(emailAttribute ? [emailAttribute] : EMAIL_NAMES);
  const ofSubject = ADDRESS_FORMATS.has(nameIdFormat) ? [nameId] : [];
  const whole = (nameAttribute ? [nameAttribute] : NAME_NAMES).flatMap(attributes.valuesOf);
  const [given, family] = nameAttribute ? [] : [first(GIVEN_NAMES)[0], first(FAMILY_NAMES)[0]];
  const isUnverified = isCalledUnverified(attributes.all);
  return {
    subject: `${nameIdFormat}|${nameId}`,
    idpSubject: nameId,
    email: isUnverified ? null : addressAmong(emails.length > 0 ? emails : ofSubject, domains),
    isUnverified,
    name: nameAmong({ whole, given, family }),
    groups: groupAttribute === null ? [] : mustBeRead(groupsOfAttributes(attributes, groupAttribute)),
    authTime,
  };
}
