import type { Attributes } from './claims.rules.ts';
import { childrenOf, type Element, everyElement, onlyChild, readXml } from './xml.rules.ts';

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
type SamlReason =
  | 'too_large'
  | 'xml'
  | 'root'
  | 'comment'
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
  | 'recipient'
  | 'conditions'
  | 'expired'
  | 'not_yet_valid'
  | 'audience';

export interface SamlFault {
  readonly fault: SamlReason;
  /** The value that is wrong. */
  readonly said?: string | undefined;
}

/** Decodes the answer. @returns the text as the identity provider sent it, or why not */
export function decodeResponse(base64: string, mostBytes: number): string | SamlFault {
  const bytes = Buffer.from(base64, 'base64');
  if (bytes.length > mostBytes) return { fault: 'too_large' };
  const text = bytes.toString('utf8');
  return Buffer.from(text).equals(bytes) ? text : { fault: 'xml' };
}

/**
 * Checks an answer before its signature is: whether the provider says that it failed; its form, with one assertion, below
 * the root, signed by itself and no other element, and nothing that readers could take differently; and what stands
 * around the assertion.
 * @returns undefined for an answer that may be verified
 */
export function answerFault(xml: string, expected: Expectations): SamlFault | undefined {
  const root = readXml(xml, { allowsComments: true });
  if (!root) return { fault: 'xml' };
  if (root.name !== 'Response') return { fault: 'root' };
  const reason = statusFault(root) ?? formFault(root);
  return typeof reason === 'string' ? { fault: reason } : (reason ?? envelopeFault(root, expected));
}

/** A failure has no assertion, so its status is read before anything else (SAML 2.0 Core, section 3.2.2.1). */
function statusFault(root: Element): SamlFault | undefined {
  const code = onlyChild(onlyChild(root, 'Status'), 'StatusCode');
  if (code?.attributes.Value === SUCCESS) return undefined;
  const codes = [code, onlyChild(code, 'StatusCode')].flatMap((each) => each?.attributes.Value ?? []);
  return { fault: 'status', said: codes.join(' ') };
}

function formFault(root: Element): SamlReason | undefined {
  const all = [...everyElement(root)];
  if (all.some(({ name }) => name.startsWith('Encrypted'))) return 'encrypted';
  const assertions = all.filter(({ name }) => name === 'Assertion');
  const [assertion] = childrenOf(root, 'Assertion');
  if (assertions.length !== 1 || !assertion) return 'assertions';
  const isCommented = root.children.some((part) => [...everyElement(part)].some((each) => each.hasComment));
  if (isCommented) return 'comment'; // beside the parts of the answer nobody reads one in a different way
  const ids = all.flatMap(idsOf);
  const isPlain = ids.every((id) => /^[A-Za-z_][\w.-]*$/.test(id));
  if (!isPlain || new Set(ids).size < ids.length) return 'ids';
  return signatureFault(root, assertion, all);
}

const idsOf = ({ attributes }: Element): string[] =>
  Object.entries(attributes).flatMap(([name, value]) => (/^(?:.*:)?id$/i.test(name) ? [value] : []));

function signatureFault(root: Element, assertion: Element, all: readonly Element[]): SamlReason | undefined {
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
  readonly attributes: Attributes;
  /** When the person signed in at the provider, in seconds since the epoch. */
  readonly authTime: number | undefined;
}

const SUCCESS = 'urn:oasis:names:tc:SAML:2.0:status:Success';
const BEARER = 'urn:oasis:names:tc:SAML:2.0:cm:bearer';
const SKEW_MS = 60_000;

/** Checks what stands around the assertion, which no signature need cover. */
function envelopeFault(root: Element, expected: Expectations): SamlFault | undefined {
  const { Destination: destination, InResponseTo: request } = root.attributes;
  if (destination !== undefined && destination !== '' && destination !== expected.spAcsUrl)
    return { fault: 'destination', said: destination };
  if (request !== expected.requestId) return { fault: 'in_response_to' };
  const issuer = onlyChild(root, 'Issuer')?.text.trim();
  return issuer === undefined || issuer === expected.idpEntityId
    ? undefined
    : { fault: 'issuer', said: issuer };
}

/** The certificates that an answer names for its assertion. They prove nothing, and tell which one is missing here. */
export function namedCertificates(xml: string): string[] {
  const root = readXml(xml, { allowsComments: true });
  const signature = onlyChild(onlyChild(root, 'Assertion'), 'Signature');
  const all = signature ? [...everyElement(signature)] : [];
  return all.filter(({ name }) => name === 'X509Certificate').map(({ text }) => text);
}

/** Reads an assertion from the bytes that its signature covers. @see SAML 2.0 Profiles, section 4.1.4.3 */
export function readAssertion(verified: string, expected: Expectations): Asserted | SamlFault {
  const assertion = readXml(verified);
  if (assertion?.name !== 'Assertion') return { fault: 'assertions' };
  const issuer = onlyChild(assertion, 'Issuer')?.text.trim();
  if (issuer !== expected.idpEntityId) return { fault: 'issuer', said: issuer };
  const subject = onlyChild(assertion, 'Subject');
  const nameId = onlyChild(subject, 'NameID');
  const name = nameId?.text.trim() ?? '';
  if (!subject || !nameId || name === '' || name.length > 512) return { fault: 'subject' };
  const confirmed = childrenOf(subject, 'SubjectConfirmation').map((one) => confirmedUntil(one, expected));
  const until = confirmed.find((time) => typeof time === 'number');
  if (until === undefined)
    return confirmed.find((one) => typeof one === 'object') ?? { fault: 'confirmation' };
  const conditions = onlyChild(assertion, 'Conditions');
  if (!conditions) return { fault: 'conditions' };
  const outOfTime = timeFault(conditions, expected.now);
  if (outOfTime !== undefined) return { fault: outOfTime };
  const restrictions = childrenOf(conditions, 'AudienceRestriction');
  const audiences = restrictions.map((one) => childrenOf(one, 'Audience').map(({ text }) => text.trim()));
  const isForUs = audiences.every((some) => some.includes(expected.spEntityId));
  if (restrictions.length === 0 || !isForUs) return { fault: 'audience', said: audiences.flat().join(' ') };
  const conditionsUntil = Date.parse(conditions.attributes.NotOnOrAfter ?? '') || 0;
  return {
    assertionId: assertion.attributes.ID ?? '',
    expiresAt: new Date(Math.max(until, conditionsUntil) + SKEW_MS),
    nameId: name,
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

/** @returns until when the confirmation holds, or why it does not */
function confirmedUntil(
  confirmation: Element,
  { spAcsUrl, requestId, now }: Expectations,
): number | SamlFault {
  const data = onlyChild(confirmation, 'SubjectConfirmationData')?.attributes;
  const until = Date.parse(data?.NotOnOrAfter ?? '');
  const isBearer = confirmation.attributes.Method === BEARER && data?.NotBefore === undefined;
  if (!isBearer || !data || Number.isNaN(until)) return { fault: 'confirmation' };
  if (data.Recipient !== spAcsUrl) return { fault: 'recipient', said: data.Recipient };
  if (data.InResponseTo !== requestId) return { fault: 'in_response_to' };
  return until + SKEW_MS > now.getTime() ? until : { fault: 'expired' };
}

function timeFault({ attributes }: Element, now: Date): 'not_yet_valid' | 'expired' | undefined {
  const { NotBefore: from, NotOnOrAfter: until } = attributes;
  if (from !== undefined && !(Date.parse(from) - SKEW_MS <= now.getTime())) return 'not_yet_valid';
  return until === undefined || Date.parse(until) + SKEW_MS > now.getTime() ? undefined : 'expired';
}

/** The attributes by their names, and where none has the name, in any case and by the names that people read. */
function attributesOf(assertion: Element): Attributes {
  const [exact, inAnyCase, friendly] = [newValues(), newValues(), newValues()];
  for (const statement of childrenOf(assertion, 'AttributeStatement')) {
    for (const attribute of childrenOf(statement, 'Attribute')) {
      const { Name: name = '', FriendlyName: friendlyName = '' } = attribute.attributes;
      const values = childrenOf(attribute, 'AttributeValue').map(({ text }) => text.trim());
      exact.add(name, values);
      inAnyCase.add(name.toLowerCase(), values);
      friendly.add(friendlyName.toLowerCase(), values);
    }
  }
  const valuesOf = (name: string): readonly string[] => {
    const found = [exact.of(name), inAnyCase.of(name.toLowerCase()), friendly.of(name.toLowerCase())];
    return found.find((values) => values.some((value) => value !== '')) ?? [];
  };
  return { all: new Map([...friendly.all, ...exact.all]), valuesOf };
}

function newValues() {
  const all = new Map<string, string[]>();
  const of = (name: string): string[] => all.get(name) ?? [];
  const add = (name: string, values: readonly string[]) => {
    const known = all.get(name);
    if (known) known.push(...values);
    else all.set(name, [...values]);
  };
  return { all, of, add };
}
