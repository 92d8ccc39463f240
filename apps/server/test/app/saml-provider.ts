import { inflateRawSync } from 'node:zlib';
import { SignedXml } from 'xml-crypto';
import keys from './saml-keys.json' with { type: 'json' };
import { startLogin } from './signing-on.ts';
import type { Call, Service } from './start-app.ts';

const SP = 'https://auth.test/saml';
const ACS = 'https://auth.test/sso/callback/saml';
const IDP = 'https://idp.test/entity';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';
const RSA_SHA256 = 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256';
const SHA256 = 'http://www.w3.org/2001/04/xmlenc#sha256';

export { keys as samlKeys };

/** The metadata of the identity provider, with a certificate in base64 or PEM. */
export const metadataWith = (certificate: string, comment = '') => `<?xml version="1.0"?>
  <md:EntityDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata" entityID="https://idp.test/saml">${comment}
    <md:IDPSSODescriptor protocolSupportEnumeration="urn:oasis:names:tc:SAML:2.0:protocol">
      <md:KeyDescriptor use="signing"><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data>
        <ds:X509Certificate>${certificate.replaceAll(/-----[A-Z ]+-----|\s/g, '')}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>
      <md:SingleSignOnService Binding="urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect" Location="https://idp.test/sso"/>
    </md:IDPSSODescriptor>
  </md:EntityDescriptor>`;

export async function addSaml(developer: Call, members: object = {}) {
  const answer = await developer('POST', '/v1/sso/connections', {
    name: 'Customer',
    protocol: 'saml',
    idpEntityId: IDP,
    idpSsoUrl: 'https://idp.test/sso',
    idpCertificate: keys.idp.cert,
    spEntityId: SP,
    spAcsUrl: ACS,
    groupAttribute: 'groups',
    ...members,
  });
  if (answer.statusCode !== 201) throw new Error(`connection: ${answer.body}`);
  return answer.json();
}

/** Facts of an answer that tests change. Null leaves a part out. */
export interface Facts {
  readonly nameId: string;
  readonly audience: string | null;
  readonly recipient: string;
  readonly destination: string;
  readonly issuer: string;
  /** The request that the answer names, and its signed confirmation too unless that names another. */
  readonly inResponseTo: string | null;
  readonly confirmedInResponseTo: string | null;
  /** The issuer of the assertion; that of the answer, unless a test says so. */
  readonly assertionIssuer: string;
  readonly status: string;
  readonly responseId: string;
  readonly assertionId: string;
  /** Seconds from now. */
  readonly from: number;
  readonly until: number;
  readonly confirmedUntil: number;
  readonly method: string;
}

/** An answer whose assertion is not signed yet. */
export function responseOf(
  now: Date,
  facts: Partial<Facts> & { readonly inResponseTo: string | null },
): string {
  const at = (seconds: number) => new Date(now.getTime() + seconds * 1000).toISOString();
  const all: Facts = {
    nameId: 'ada@acme.test',
    audience: SP,
    recipient: ACS,
    destination: ACS,
    issuer: IDP,
    assertionIssuer: facts.issuer ?? IDP,
    confirmedInResponseTo: facts.inResponseTo,
    status: 'urn:oasis:names:tc:SAML:2.0:status:Success',
    responseId: '_response',
    assertionId: `_a${Math.random().toString(16).slice(2)}`,
    from: -5,
    until: 300,
    confirmedUntil: 300,
    method: 'urn:oasis:names:tc:SAML:2.0:cm:bearer',
    ...facts,
  };
  const answerTo = (id: string | null) => (id === null ? '' : ` InResponseTo="${id}"`);
  const answers = answerTo(all.inResponseTo);
  const audience =
    all.audience === null
      ? ''
      : `<saml:AudienceRestriction><saml:Audience>${all.audience}</saml:Audience></saml:AudienceRestriction>`;
  return `<samlp:Response xmlns:samlp="urn:oasis:names:tc:SAML:2.0:protocol" xmlns:saml="urn:oasis:names:tc:SAML:2.0:assertion" ID="${all.responseId}" Version="2.0" IssueInstant="${at(0)}" Destination="${all.destination}"${answers}><saml:Issuer>${all.issuer}</saml:Issuer><samlp:Status><samlp:StatusCode Value="${all.status}"/></samlp:Status><saml:Assertion ID="${all.assertionId}" Version="2.0" IssueInstant="${at(0)}"><saml:Issuer>${all.assertionIssuer}</saml:Issuer><saml:Subject><saml:NameID Format="urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress">${all.nameId}</saml:NameID><saml:SubjectConfirmation Method="${all.method}"><saml:SubjectConfirmationData Recipient="${all.recipient}" NotOnOrAfter="${at(all.confirmedUntil)}"${answerTo(all.confirmedInResponseTo)}/></saml:SubjectConfirmation></saml:Subject><saml:Conditions NotBefore="${at(all.from)}" NotOnOrAfter="${at(all.until)}">${audience}</saml:Conditions><saml:AuthnStatement AuthnInstant="${at(0)}"/><saml:AttributeStatement><saml:Attribute Name="groups"><saml:AttributeValue>staff</saml:AttributeValue><saml:AttributeValue>editors</saml:AttributeValue></saml:Attribute></saml:AttributeStatement></saml:Assertion></samlp:Response>`;
}

interface Signing {
  readonly by?: keyof typeof keys;
  readonly element?: 'Assertion' | 'Response';
  readonly signatureAlgorithm?: string;
  readonly digestAlgorithm?: string;
  readonly transforms?: readonly string[];
  readonly canonicalization?: string;
  readonly isEmptyUri?: boolean;
}

/** Signs the assertion, or the answer. */
export function signed(xml: string, signing: Signing = {}): string {
  const { by = 'idp', element = 'Assertion', isEmptyUri = false } = signing;
  const signature = new SignedXml({
    privateKey: keys[by].key,
    publicCert: keys[by].cert,
    signatureAlgorithm: signing.signatureAlgorithm ?? RSA_SHA256,
    canonicalizationAlgorithm: (signing.canonicalization ??
      EXCLUSIVE) as 'http://www.w3.org/2001/10/xml-exc-c14n#',
  });
  const path = `//*[local-name(.)='${element}']`;
  signature.addReference({
    xpath: isEmptyUri ? '/*' : path,
    transforms: [
      ...(signing.transforms ?? ['http://www.w3.org/2000/09/xmldsig#enveloped-signature', EXCLUSIVE]),
    ],
    digestAlgorithm: signing.digestAlgorithm ?? SHA256,
    ...(isEmptyUri && { uri: '', isEmptyUri: true }),
  });
  signature.computeSignature(xml, {
    location: { reference: `${path}/*[local-name(.)='Issuer']`, action: 'after' },
  });
  return signature.getSignedXml();
}

/** Begins a login. @returns the relay state, and the id of the request */
export async function beginSaml(service: Service, org: string, query: Record<string, string> = {}) {
  const answer = await startLogin(service, { org, ...query });
  const url = new URL(String(answer.headers.location ?? answer.json().authorizeUrl));
  const { searchParams } = url;
  return { answer, relayState: searchParams.get('RelayState') ?? '', requestId: requestIdIn(searchParams) };
}

/** The id of the request that a browser brings to the provider. */
export function requestIdIn(query: URLSearchParams): string {
  const request = inflateRawSync(Buffer.from(query.get('SAMLRequest') ?? '', 'base64')).toString();
  return /\sID="([^"]+)"/.exec(request)?.[1] ?? '';
}

/** Posts an answer as the identity provider's form does. */
export const postSaml = ({ app }: Service, xml: string | Buffer, RelayState: string, cookie = '') =>
  app.inject({
    method: 'POST',
    url: '/sso/callback/saml',
    headers: { 'content-type': 'application/x-www-form-urlencoded', cookie },
    payload: new URLSearchParams({
      SAMLResponse: Buffer.from(xml).toString('base64'),
      RelayState,
    }).toString(),
  });
