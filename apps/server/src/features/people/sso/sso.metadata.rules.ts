import { childrenOf, everyElement, readXml } from './sso.xml.rules.ts';

/** The facts of a SAML identity provider that a connection needs. */
export interface SamlProvider {
  readonly idpEntityId: string;
  readonly idpSsoUrl: string;
  readonly idpCertificate: string[];
}

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const MOST_CERTIFICATES = 5;

/** Comments carry nothing in metadata, and some providers write them. Nothing here is signed. */
const COMMENT = /<!--[\s\S]*?-->/g;

/**
 * Reads the metadata of an identity provider (SAML 2.0 Metadata, section 2.4.3).
 * @returns the part that is missing, in the words of the standard
 */
export function readSamlMetadata(text: string): SamlProvider | { readonly missing: string } {
  const document = readXml(text.replace(COMMENT, '').trim());
  if (!document) return { missing: 'XML' };
  const entity = [...everyElement(document)].find(({ name }) => name === 'EntityDescriptor');
  const idpEntityId = entity?.attributes.entityID;
  if (!entity || !idpEntityId) return { missing: 'EntityDescriptor' };
  const [role] = childrenOf(entity, 'IDPSSODescriptor');
  if (!role) return { missing: 'IDPSSODescriptor' };
  const services = childrenOf(role, 'SingleSignOnService');
  const idpSsoUrl = services.find(({ attributes }) => attributes.Binding === REDIRECT)?.attributes.Location;
  if (!idpSsoUrl) return { missing: 'SingleSignOnService' };
  const signing = childrenOf(role, 'KeyDescriptor').filter(
    ({ attributes }) => attributes.use !== 'encryption',
  );
  const idpCertificate = signing
    .flatMap((key) => [...everyElement(key)])
    .filter(({ name }) => name === 'X509Certificate')
    .map((certificate) => certificate.text.replace(/\s/g, ''))
    .slice(0, MOST_CERTIFICATES);
  return idpCertificate.length === 0
    ? { missing: 'X509Certificate' }
    : { idpEntityId, idpSsoUrl, idpCertificate };
}
