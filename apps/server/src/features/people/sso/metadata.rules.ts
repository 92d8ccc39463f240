import { certificateOf, isStrong, MAX_CERTIFICATES } from './certificates.rules.ts';
import { childrenOf, type Element, everyElement, readXml } from './xml.rules.ts';

/** The facts of a SAML identity provider that a connection needs. */
export interface SamlProvider {
  readonly idpEntityId: string;
  readonly idpSsoUrl: string;
  readonly idpCertificate: string[];
}

const REDIRECT = 'urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect';
const PROTOCOL = 'urn:oasis:names:tc:SAML:2.0:protocol';
const MAX_PIECES = 10_000; // the documents of federation services describe every claim
const MAX_SHOWN = 3;
const MAX_READ = 100; // certificates, before the old and weak ones are left out

/** The metadata cannot be used, in words for the administrator. */
interface Unusable {
  readonly fault: string;
}

const missing = (part: string): Unusable => ({
  fault: `The metadata cannot be used: ${part} is missing, or is not of an identity provider.`,
});

/** Reads the metadata of an identity provider (SAML 2.0 Metadata, section 2.4.3). Nothing in them is signed. */
export function readSamlMetadata(text: string, now: Date): SamlProvider | Unusable {
  const form = { allowsComments: true, isUnsigned: true, mostPieces: MAX_PIECES };
  const document = readXml(text.trim(), form);
  if (!document) return missing('XML');
  const entity = onlyProvider(document);
  if ('fault' in entity) return entity;
  const roles = childrenOf(entity, 'IDPSSODescriptor');
  const role =
    roles.find(speaksSaml2) ??
    roles.find(({ attributes }) => attributes.protocolSupportEnumeration === undefined);
  const { entityID: idpEntityId } = entity.attributes;
  if (!idpEntityId) return missing('`entityID`');
  if (!role) return { fault: 'The provider speaks no SAML 2.0 by these metadata. Send those of SAML 2.0.' };
  const expired = [document, entity, role].find((part) => hasExpired(part, now));
  if (expired) {
    const { validUntil } = expired.attributes;
    return { fault: `These metadata were valid until ${validUntil}. Fetch them from the provider again.` };
  }
  if (/^(?:true|1)$/.test(role.attributes.WantAuthnRequestsSigned ?? '')) {
    const fault =
      'The provider demands signed requests (`WantAuthnRequestsSigned`), and the service signs none. Turn that off at the provider, and send its metadata again.';
    return { fault };
  }
  const services = childrenOf(role, 'SingleSignOnService');
  const idpSsoUrl = services.find(({ attributes }) => attributes.Binding === REDIRECT)?.attributes.Location;
  if (!idpSsoUrl) return missing('SingleSignOnService with the binding HTTP-Redirect');
  const idpCertificate = signingCertificates(role, now);
  return 'fault' in idpCertificate ? idpCertificate : { idpEntityId, idpSsoUrl, idpCertificate };
}

const speaksSaml2 = ({ attributes }: Element): boolean =>
  (attributes.protocolSupportEnumeration ?? '').split(/\s/).includes(PROTOCOL);

/** The one identity provider of a document, which may describe services too. */
function onlyProvider(document: Element): Element | Unusable {
  const entities = [...everyElement(document)].filter(({ name }) => name === 'EntityDescriptor');
  if (entities.length === 0) return missing('EntityDescriptor');
  const providers = entities.filter((entity) => childrenOf(entity, 'IDPSSODescriptor').length > 0);
  const ids = [...new Set(providers.map(({ attributes }) => attributes.entityID ?? ''))];
  if (ids.length > 1) {
    const shown = ids.slice(0, MAX_SHOWN).map((id) => `\`${id.slice(0, 200).replace(/[^ -~]/g, '?')}\``);
    const more = ids.length > MAX_SHOWN ? ` and ${ids.length - MAX_SHOWN} more` : '';
    const fault = `The metadata describe ${ids.length} identity providers: ${shown.join(', ')}${more}. Send the \`EntityDescriptor\` of the one that is meant.`;
    return { fault };
  }
  return providers[0] ?? missing('IDPSSODescriptor');
}

function hasExpired({ attributes: { validUntil } }: Element, now: Date): boolean {
  return validUntil !== undefined && Date.parse(validUntil) <= now.getTime();
}

/** The certificates that may sign now. Old, weak and doubled ones beside them do no harm and are left out. */
function signingCertificates(role: Element, now: Date): string[] | Unusable {
  const keys = childrenOf(role, 'KeyDescriptor').filter(({ attributes }) => attributes.use !== 'encryption');
  const written = keys
    .flatMap((key) => [...everyElement(key)])
    .filter(({ name, children }) => name === 'X509Certificate' && children.length === 0) // each text once
    .map(({ text }) => text.replace(/\s/g, ''));
  const different = [...new Set(written)];
  if (different.length > MAX_READ) {
    const fault = `The metadata hold ${different.length} certificates, and at most ${MAX_READ} are read. Take the old ones out.`;
    return { fault };
  }
  const read = different.map((text) => ({ text, certificate: certificateOf(text) }));
  const known = read.flatMap(({ text, certificate }) => (certificate ? [{ text, certificate }] : []));
  if (different.length === 0) return missing('X509Certificate');
  if (known.length === 0)
    return { fault: 'No certificate in the metadata can be read. Send them unchanged.' };
  const strong = known.filter(({ certificate }) => isStrong(certificate));
  const usable = strong.filter(({ certificate }) => new Date(certificate.validTo) > now);
  if (strong.length === 0) {
    const fault =
      'Every certificate in the metadata is weak. The provider has to sign with an RSA key of 2048 bits or more, or a key on P-256, P-384 or P-521.';
    return { fault };
  }
  if (usable.length === 0) return { fault: 'Every certificate in the metadata has expired.' };
  if (usable.length > MAX_CERTIFICATES) {
    const fault = `The metadata hold ${usable.length} certificates that may sign, and a connection takes ${MAX_CERTIFICATES}. Take those out that the provider no longer signs with.`;
    return { fault };
  }
  return usable.map(({ text }) => text);
}
