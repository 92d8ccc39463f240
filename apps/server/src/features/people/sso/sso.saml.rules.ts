import { childrenOf, type Element, everyElement, onlyChild, readXml } from './sso.xml.rules.ts';

const MOST_BYTES = 262_144;
const XMLDSIG = 'http://www.w3.org/2000/09/xmldsig#';
const MORE = 'http://www.w3.org/2001/04/xmldsig-more#';
const EXCLUSIVE = 'http://www.w3.org/2001/10/xml-exc-c14n#';

const ALGORITHMS: Readonly<Record<string, ReadonlySet<string>>> = {
  CanonicalizationMethod: new Set([EXCLUSIVE]),
  Transform: new Set([EXCLUSIVE, `${XMLDSIG}enveloped-signature`]),
  SignatureMethod: new Set(
    ['rsa', 'ecdsa'].flatMap((key) => ['256', '384', '512'].map((size) => `${MORE}${key}-sha${size}`)),
  ),
  DigestMethod: new Set([
    'http://www.w3.org/2001/04/xmlenc#sha256',
    `${MORE}sha384`,
    'http://www.w3.org/2001/04/xmlenc#sha512',
  ]),
};

/** The reason why an answer is refused. */
export type SamlFault =
  | 'too_large'
  | 'xml'
  | 'root'
  | 'assertions'
  | 'encrypted'
  | 'ids'
  | 'unsigned'
  | 'wrapping'
  | 'algorithm'
  | 'status'
  | 'destination'
  | 'issuer'
  | 'in_response_to'
  | 'subject'
  | 'confirmation'
  | 'conditions'
  | 'audience';

/** Decodes the answer. @returns the text as the identity provider sent it, or why not */
export function decodeResponse(base64: string): string | { readonly fault: SamlFault } {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > MOST_BYTES) return { fault: 'too_large' };
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : { fault: 'xml' };
}

/**
 * Checks the form of an answer, before its signature is: one assertion, below the root; signed by itself and no other
 * element; nothing that readers could take differently.
 * @returns undefined for an answer of good form
 */
export function formFault(xml: string): SamlFault | undefined {
  const root = readXml(xml);
  if (!root) return 'xml';
  if (root.name !== 'Response') return 'root';
  const all = [...everyElement(root)];
  if (all.some(({ name }) => name.startsWith('Encrypted'))) return 'encrypted';
  const assertions = all.filter(({ name }) => name === 'Assertion');
  const [assertion] = childrenOf(root, 'Assertion');
  if (assertions.length !== 1 || !assertion) return 'assertions';
  const ids = all.flatMap(idsOf);
  const isPlain = ids.every((id) => /^[A-Za-z_][\w.-]*$/.test(id));
  if (!isPlain || new Set(ids).size < ids.length) return 'ids';
  return signatureFault(root, assertion, all);
}

const idsOf = ({ attributes }: Element): string[] =>
  Object.entries(attributes).flatMap(([name, value]) => (/^(?:.*:)?id$/i.test(name) ? [value] : []));

function signatureFault(root: Element, assertion: Element, all: readonly Element[]): SamlFault | undefined {
  const own = onlyChild(assertion, 'Signature');
  if (!own) return 'unsigned';
  const ofRoot = onlyChild(root, 'Signature');
  const signatures = all.filter(({ name }) => name === 'Signature');
  if (signatures.length !== (ofRoot ? 2 : 1)) return 'wrapping';
  if (!isOver(own, assertion) || (ofRoot && !isOver(ofRoot, root))) return 'wrapping';
  return signatures.every(hasGoodAlgorithms) ? undefined : 'algorithm';
}

/** Whether the signature has one reference, which is to this element. */
function isOver(signature: Element, element: Element): boolean {
  const info = onlyChild(signature, 'SignedInfo');
  const reference = onlyChild(info, 'Reference');
  const all = [...everyElement(signature)];
  const isOnly = [
    'SignedInfo',
    'Reference',
    'SignatureValue',
    'SignatureMethod',
    'CanonicalizationMethod',
  ].every((name) => all.filter((other) => other.name === name).length === 1);
  const hasObject = all.some(({ name }) => name === 'Object' || name === 'Manifest');
  const { ID = '' } = element.attributes;
  return isOnly && !hasObject && ID !== '' && reference?.attributes.URI === `#${ID}`;
}

function hasGoodAlgorithms(signature: Element): boolean {
  const info = onlyChild(signature, 'SignedInfo');
  if (!info) return false;
  return [...everyElement(info)].every(({ name, attributes, children }) => {
    const allowed = ALGORITHMS[name];
    if (!allowed) return attributes.Algorithm === undefined;
    const isPlain = children.every((child) => child.name === 'InclusiveNamespaces');
    return isPlain && allowed.has(attributes.Algorithm ?? '');
  });
}

export interface Expectations {
  readonly idpEntityId: string;
  readonly spEntityId: string;
  readonly spAcsUrl: string;
  /** The id of the request that was sent with this login. */
  readonly requestId: string;
  readonly now: Date;
}

/** A person as a verified assertion describes them. */
export interface Asserted {
  readonly assertionId: string;
  readonly expiresAt: Date;
  readonly nameId: string;
  readonly nameIdFormat: string;
  readonly attributes: ReadonlyMap<string, readonly string[]>;
  /** When the person signed in at the provider, in seconds since the epoch. */
  readonly authTime: number | undefined;
}

const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const SKEW_MS = 60_000;

/** Checks what stands around the assertion, which no signature need cover. */
export function envelopeFault(xml: string, expected: Expectations): SamlFault | undefined {
  const root = readXml(xml);
  const { Destination: destination, InResponseTo: request } = root?.attributes ?? {};
  const code = onlyChild(onlyChild(root, 'Status'), 'StatusCode');
  if (code?.attributes.Value !== SUCCESS) return 'status';
  if (destination !== undefined && destination !== '' && destination !== expected.spAcsUrl)
    return 'destination';
  if (request !== expected.requestId) return 'in_response_to';
  const issuer = onlyChild(root, 'Issuer');
  return issuer && issuer.text.trim() !== expected.idpEntityId ? 'issuer' : undefined;
}

/** Reads an assertion from the bytes that its signature covers. @see SAML 2.0 Profiles, section 4.1.4.3 */
export function readAssertion(
  verified: string,
  expected: Expectations,
): Asserted | { readonly fault: SamlFault } {
  const assertion = readXml(verified);
  if (assertion?.name !== 'Assertion') return { fault: 'assertions' };
  if (onlyChild(assertion, 'Issuer')?.text.trim() !== expected.idpEntityId) return { fault: 'issuer' };
  const subject = onlyChild(assertion, 'Subject');
  const nameId = onlyChild(subject, 'NameID');
  if (!subject || !nameId || nameId.text === '' || nameId.text.length > 512) return { fault: 'subject' };
  const confirmed = childrenOf(subject, 'SubjectConfirmation').map((one) => confirmedUntil(one, expected));
  const until = confirmed.find((time) => time !== undefined);
  if (until === undefined) return { fault: 'confirmation' };
  const conditions = onlyChild(assertion, 'Conditions');
  if (!conditions || !isWithin(conditions, expected.now)) return { fault: 'conditions' };
  const restrictions = childrenOf(conditions, 'AudienceRestriction');
  const isForUs = restrictions.every((one) =>
    childrenOf(one, 'Audience').some(({ text }) => text.trim() === expected.spEntityId),
  );
  if (restrictions.length === 0 || !isForUs) return { fault: 'audience' };
  const conditionsUntil = Date.parse(conditions.attributes.NotOnOrAfter ?? '') || 0;
  return {
    assertionId: assertion.attributes.ID ?? '',
    expiresAt: new Date(Math.max(until, conditionsUntil) + SKEW_MS),
    nameId: nameId.text,
    nameIdFormat: nameId.attributes.Format ?? '',
    attributes: attributesOf(assertion),
    authTime: authTimeOf(assertion),
  };
}

/** SAML 2.0 Core, section 2.7.2. */
function authTimeOf(assertion: Element): number | undefined {
  const instants = childrenOf(assertion, 'AuthnStatement').map(({ attributes }) => attributes.AuthnInstant);
  const ms = Date.parse(instants[0] ?? '');
  return Number.isNaN(ms) ? undefined : Math.floor(ms / 1000);
}

/** @returns until when the confirmation holds; undefined for one that does not */
function confirmedUntil(
  confirmation: Element,
  { spAcsUrl, requestId, now }: Expectations,
): number | undefined {
  const data = onlyChild(confirmation, 'SubjectConfirmationData')?.attributes;
  const isOurs =
    confirmation.attributes.Method === BEARER &&
    data?.Recipient === spAcsUrl &&
    data.InResponseTo === requestId &&
    data.NotBefore === undefined;
  const until = Date.parse(data?.NotOnOrAfter ?? '');
  return isOurs && until + SKEW_MS > now.getTime() ? until : undefined;
}

function isWithin({ attributes }: Element, now: Date): boolean {
  const { NotBefore: from, NotOnOrAfter: until } = attributes;
  const hasBegun = from === undefined || Date.parse(from) - SKEW_MS <= now.getTime();
  return hasBegun && (until === undefined || Date.parse(until) + SKEW_MS > now.getTime());
}

function attributesOf(assertion: Element): ReadonlyMap<string, readonly string[]> {
  const attributes = new Map<string, string[]>();
  for (const statement of childrenOf(assertion, 'AttributeStatement')) {
    for (const attribute of childrenOf(statement, 'Attribute')) {
      const values = childrenOf(attribute, 'AttributeValue').map(({ text }) => text);
      const { Name = '' } = attribute.attributes;
      attributes.set(Name, [...(attributes.get(Name) ?? []), ...values]);
    }
  }
  return attributes;
}
