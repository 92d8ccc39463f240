import { createRequire } from 'node:module';
import { describe, expect, test } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import {
  addSaml,
  beginSaml,
  type Facts,
  postSaml,
  responseOf,
  samlKeys,
  signed,
} from '../../../../test/app/saml-provider.ts';
import { besideProvider, startLogin } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { answerFault } from './saml.rules.ts';

async function startSaml(members: object = {}) {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const connection = await addSaml(acme, members);
  const org = acme.developerId;
  /** Begins a login, and brings an answer to it. */
  const answerWith = async (make: (xml: string, requestId: string) => string, facts: Partial<Facts> = {}) => {
    const { relayState, requestId } = await beginSaml(service, org);
    const xml = responseOf(service.clock(), { inResponseTo: requestId, ...facts });
    return postSaml(service, make(xml, requestId), relayState);
  };
  return { service, acme, connection, org, answerWith };
}

const sign = (xml: string) => signed(xml);

test('a person signs in with a signed assertion, in a browser too', async () => {
  const { service, acme, connection, org, answerWith } = await startSaml({
    groupMappings: { editors: ['files:write'], staff: ['files:read'] },
  });
  const answer = await answerWith(sign);
  expect(answer.json()).toMatchObject({
    sub: 'ada@acme.test',
    email: 'ada@acme.test',
    groups: ['staff', 'editors'],
    mappedScopes: ['files:read', 'files:write'],
  });

  const begun = await beginSaml(service, org, { mode: 'redirect', return_to: '/permissions' });
  const [cookie] = begun.answer.cookies;
  const xml = sign(responseOf(service.clock(), { inResponseTo: begun.requestId }));
  const landed = await postSaml(service, xml, begun.relayState, `${cookie?.name}=${cookie?.value}`);
  expect(cookie).toMatchObject({
    name: expect.stringMatching(/^__Host-bh_sso\./),
    sameSite: 'None',
    secure: true,
  });
  expect(landed.headers.location).toBe('/permissions');

  const metadata = await service.app.inject(`/sso/saml/${connection.id}/metadata`);
  expect(metadata.body).toContain('entityID="https://auth.test/saml"');
  expect((await acme('GET', `/v1/sso/connections/${connection.id}`)).json().idpCertificates).toMatchObject([
    { fingerprintSha256: expect.stringMatching(/^[0-9a-f]{64}$/) },
  ]);
});

const assertionIn = (xml: string) => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? '';
const signatureIn = (xml: string) => /<Signature[\s\S]*<\/Signature>/.exec(xml)?.[0] ?? '';
const without = (xml: string, part: string) => xml.replace(part, () => '');
const put = (xml: string, old: string, part: string) => xml.replace(old, () => part);
const evilOf = (xml: string) =>
  without(assertionIn(xml), signatureIn(xml))
    .replace(/ ID="[^"]+"/, ' ID="_evil"')
    .replace('ada@acme.test', 'admin@acme.test');
const inObject = (signature: string, part: string) =>
  put(signature, '</Signature>', `<Object>${part}</Object></Signature>`);
const end = '</saml:Assertion>';

/** The eight forms of wrapping by Somorovsky and others, "On Breaking SAML". */
const wrappings: Readonly<Record<string, (xml: string) => string>> = {
  'XSW1: the signed answer in the signature of another': (xml) => {
    const whole = signed(xml, { element: 'Response' });
    const original = without(whole, signatureIn(whole));
    const evil = put(original, assertionIn(original), evilOf(xml)).replace('_response', '_evilResponse');
    return put(evil, '</saml:Issuer>', `</saml:Issuer>${inObject(signatureIn(whole), original)}`);
  },
  'XSW2: the signed answer beside its signature in another': (xml) => {
    const whole = signed(xml, { element: 'Response' });
    const original = without(whole, signatureIn(whole));
    const evil = put(original, assertionIn(original), evilOf(xml)).replace('_response', '_evilResponse');
    return put(evil, '</saml:Issuer>', `</saml:Issuer>${original}${signatureIn(whole)}`);
  },
  'XSW3: another assertion before the signed one': (xml) => {
    const whole = sign(xml);
    return put(whole, assertionIn(whole), evilOf(whole) + assertionIn(whole));
  },
  'XSW4: the signed assertion in another': (xml) => {
    const whole = sign(xml);
    return put(whole, assertionIn(whole), put(evilOf(whole), end, assertionIn(whole) + end));
  },
  'XSW5: another assertion with the signature, and the signed one after it': (xml) => {
    const whole = sign(xml);
    const [signature, evil] = [signatureIn(whole), evilOf(whole)];
    const bare = without(assertionIn(whole), signature);
    return put(whole, assertionIn(whole), put(evil, '</saml:Issuer>', `</saml:Issuer>${signature}`) + bare);
  },
  'XSW6: as XSW5, and the signed one in the signature': (xml) => {
    const whole = sign(xml);
    const bare = without(assertionIn(whole), signatureIn(whole));
    const signature = inObject(signatureIn(whole), bare);
    return put(whole, assertionIn(whole), put(evilOf(whole), '</saml:Issuer>', `</saml:Issuer>${signature}`));
  },
  'XSW7: another assertion in an extension': (xml) => {
    const whole = sign(xml);
    const extension = `<samlp:Extensions>${evilOf(whole)}</samlp:Extensions>`;
    return put(whole, assertionIn(whole), extension + assertionIn(whole));
  },
  'XSW8: another assertion in an object of the signature': (xml) => {
    const whole = sign(xml);
    return put(whole, signatureIn(whole), inObject(signatureIn(whole), evilOf(whole)));
  },
};

const SHA1 = 'http://www.w3.org/2000/09/xmldsig#sha1';
const named = (text: string) => (xml: string) => xml.replace('ada@acme.test', () => text);

/** Other refusals. Each signs an answer that differs from a good one in the named point. */
const refused: Readonly<Record<string, (xml: string) => string>> = {
  'no signature': (xml) => xml,
  'a signature on the answer alone': (xml) => signed(xml, { element: 'Response' }),
  'two assertions': (xml) => {
    const whole = sign(xml);
    return put(whole, assertionIn(whole), assertionIn(whole) + assertionIn(whole));
  },
  'two equal ids': (xml) => sign(xml.replace('<saml:AuthnStatement', '<saml:AuthnStatement ID="_response"')),
  'a reference to the whole document': (xml) => signed(xml, { isEmptyUri: true }),
  'the key of somebody else, also in KeyInfo': (xml) => signed(xml, { by: 'mallory' }),
  'SHA-1 in the signature': (xml) =>
    signed(xml, { signatureAlgorithm: 'http://www.w3.org/2000/09/xmldsig#rsa-sha1' }),
  'SHA-1 in the digest': (xml) => signed(xml, { digestAlgorithm: SHA1 }),
  'another canonicalization': (xml) =>
    signed(xml, { canonicalization: 'http://www.w3.org/TR/2001/REC-xml-c14n-20010315' }),
  'comments in the canonical form': (xml) =>
    signed(xml, { canonicalization: 'http://www.w3.org/2001/10/xml-exc-c14n#WithComments' }),
  'a transform by XSLT': (xml) =>
    put(
      sign(xml),
      '<Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"',
      '<Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"',
    ),
  'an altered name': (xml) => named('admin@acme.test')(sign(xml)),
  'a comment in the name': (xml) => sign(named('admin@acme.test<!---->.evil.test')(xml)),
  'a comment that was put in later': (xml) => named('ada<!---->@acme.test')(sign(xml)),
  'a CDATA section in the name': (xml) => sign(named('<![CDATA[ada]]>@acme.test')(xml)),
  'a document type': (xml) => `<!DOCTYPE r [<!ENTITY x SYSTEM "file:///etc/passwd">]>${sign(xml)}`,
  'an entity that nobody defined': (xml) => named('&x;')(sign(xml)),
  'a processing instruction': (xml) => put(sign(xml), '<samlp:Status>', '<?php x ?><samlp:Status>'),
  'a declaration of another encoding': (xml) => `<?xml version="1.0" encoding="UTF-7"?>${sign(xml)}`,
  'an encrypted assertion': (xml) =>
    put(sign(xml), '<saml:Assertion ', '<saml:EncryptedAssertion/><saml:Assertion '),
  'no audience': (xml) => sign(xml.replace(/<saml:AudienceRestriction>.*<\/saml:AudienceRestriction>/, '')),
  'too many bytes': (xml) => named(`${'a'.repeat(262_144)}@acme.test`)(xml),
};

/** Facts that make an answer that of another login, party or time. */
const wrongFacts: Readonly<Record<string, Partial<Facts>>> = {
  'another audience': { audience: 'https://other.test' },
  'another recipient': { recipient: 'https://other.test/acs' },
  'another destination': { destination: 'https://other.test/acs' },
  'another issuer': { issuer: 'https://other.test' },
  'another request': { inResponseTo: '_other' },
  'another request in the signed confirmation alone': { confirmedInResponseTo: '_other' },
  'no request in the signed confirmation': { confirmedInResponseTo: null },
  'another issuer in the signed assertion alone': { assertionIssuer: 'https://other.test' },
  'no request, as an identity provider begins by itself': { inResponseTo: null },
  'a failure': { status: 'urn:oasis:names:tc:SAML:2.0:status:Responder' },
  'holder of key': { method: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key' },
  'conditions that ended 61 seconds ago': { until: -61 },
  'conditions that begin in 61 seconds': { from: 61 },
  'a confirmation that ended 61 seconds ago': { confirmedUntil: -61 },
};

describe('an answer is refused', () => {
  test('M1, M2, M3, M6: in each form of wrapping, and for each fault of its signature or form', async () => {
    const { answerWith } = await startSaml();
    expect((await answerWith(sign)).statusCode).toBe(200); // the control
    const outcomes: Record<string, string> = {};
    const all = { ...wrappings, ...refused };
    for (const [name, make] of Object.entries(all)) outcomes[name] = refusalOf(await answerWith(make));
    const expected = Object.fromEntries(Object.keys(all).map((name) => [name, '401 SSO_AUTH_FAILED']));
    expect(outcomes).toEqual(expected);
  });

  test('M4: made for another party, request or time', async () => {
    const { answerWith } = await startSaml();
    const near = { until: -59, from: 59, confirmedUntil: -59 };
    const controls = [{ until: near.until }, { from: near.from }, { confirmedUntil: near.confirmedUntil }];
    for (const facts of controls) expect((await answerWith(sign, facts)).statusCode).toBe(200);
    for (const [name, facts] of Object.entries(wrongFacts)) {
      expect(`${name}: ${refusalOf(await answerWith(sign, facts))}`).toBe(`${name}: 401 SSO_AUTH_FAILED`);
    }
  });

  test('M5: with an assertion that was used before', async () => {
    const { acme, answerWith } = await startSaml();
    const facts = { assertionId: '_once' };
    expect((await answerWith(sign, facts)).statusCode).toBe(200);
    expect(refusalOf(await answerWith(sign, facts))).toBe('401 SSO_AUTH_FAILED');
    expect(await entriesOf(acme, 'sso.login_failed')).toMatchObject([
      { status: 'failure', metadata: { reason: 'assertion_used', protocol: 'saml' } },
    ]);
  });

  test('M5: one of two with the same assertion at once', async () => {
    const { answerWith } = await startSaml();
    const facts = { assertionId: '_twice' };
    const answers = await Promise.all([answerWith(sign, facts), answerWith(sign, facts)]);
    expect(answers.map(({ statusCode }) => statusCode).sort()).toEqual([200, 401]);
  });

  test('M2: signed under a certificate that has expired', async () => {
    const { service, answerWith } = await startSaml();
    expect((await answerWith(sign)).statusCode).toBe(200); // the control
    service.advance(3651 * 86_400);
    expect(refusalOf(await answerWith(sign))).toBe('401 SSO_AUTH_FAILED');
  });

  test('M4: made at one connection, brought to another with the same certificate', async () => {
    const { service, acme, connection, org } = await startSaml();
    const other = await addSaml(acme, { name: 'Other', idpEntityId: 'https://other.test' });
    const { relayState, requestId } = await beginSaml(service, org, { connection: other.id });
    const xml = sign(responseOf(service.clock(), { inResponseTo: requestId }));
    expect(refusalOf(await postSaml(service, xml, relayState))).toBe('401 SSO_AUTH_FAILED');
    const own = await beginSaml(service, org, { connection: connection.id });
    const good = sign(responseOf(service.clock(), { inResponseTo: own.requestId }));
    expect((await postSaml(service, good, own.relayState)).statusCode).toBe(200); // the control
  });
});

test('M6: documents that are made to take long are refused in less than 100 ms of processor time', () => {
  const documents = [
    `<!DOCTYPE a [${'<!ENTITY a "&b;&b;">'.repeat(1000)}]><a>&a;</a>`,
    '<a>'.repeat(10_000),
    `<a ${' '.repeat(250_000)}`,
    `<a b="${'&'.repeat(250_000)}"/>`,
    `<a ${'b="c" '.repeat(40_000)}/>`,
    `<a>${'<b/>'.repeat(60_000)}</a>`,
    '<'.repeat(250_000),
  ];
  const nowhere = { idpEntityId: '', spEntityId: '', spAcsUrl: '', requestId: '', now: new Date(0) };
  for (const document of documents) {
    const before = process.cpuUsage();
    expect(answerFault(document, nowhere)).toBeDefined();
    expect(process.cpuUsage(before).user).toBeLessThan(100_000);
  }
});

test('a weak, broken or expired certificate is not taken', async () => {
  const { acme } = await startSaml();
  const add = (idpCertificate: unknown) => acme('POST', '/v1/sso/connections', { ...saml, idpCertificate });
  const saml = {
    name: 'Another',
    protocol: 'saml',
    idpEntityId: 'e',
    idpSsoUrl: 'https://idp.test/sso',
    spEntityId: 's',
    spAcsUrl: 'https://auth.test/sso/callback/saml',
  };
  const bare = samlKeys.idp.cert.replace(/-----[A-Z ]+-----|\s/g, '');
  expect((await add(bare)).statusCode).toBe(201);
  expect(refusalOf(await add('AAAA'))).toBe('400 BAD_REQUEST');
  expect(refusalOf(await add(Array.from({ length: 21 }, () => bare)))).toBe('400 BAD_REQUEST');
});

/** The parts of the library that the test uses. Its own types bring those of browsers into every file. */
interface Samlify {
  readonly Constants: {
    readonly namespace: {
      readonly format: { readonly emailAddress: string };
      readonly binding: { readonly redirect: string };
    };
    readonly algorithms: { readonly signature: { readonly RSA_SHA256: string } };
  };
  readonly IdentityProvider: (settings: object) => {
    parseLoginRequest(sp: object, binding: 'redirect', request: object): Promise<{ extract: object }>;
    createLoginResponse(
      sp: object,
      request: object,
      binding: 'post',
      user: { readonly email: string },
    ): Promise<{ context: string }>;
  };
  readonly ServiceProvider: (settings: object) => object;
  readonly setSchemaValidator: (validator: { validate: (xml: string) => Promise<string> }) => void;
}

const require = createRequire(import.meta.url);
const { Constants, IdentityProvider, ServiceProvider, setSchemaValidator }: Samlify = require('samlify');

// The library demands a validator of schemas. It reads the service's own request alone, which it also parses.
setSchemaValidator({ validate: async () => 'not looked at' });

const ENTITY = 'https://peer.test/entity';
const SSO_URL = 'https://peer.test/sso';

type Signing = 'assertion' | 'answer and assertion' | 'answer';

/** An identity provider of another library, which reads the metadata of the service. */
async function startPeer(signing: Signing = 'assertion') {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const members = { idpEntityId: ENTITY, idpSsoUrl: SSO_URL, groupAttribute: null };
  const connection = await addSaml(acme, members);
  const metadata = (await service.app.inject(`/sso/saml/${connection.id}/metadata`)).body;
  const idp = IdentityProvider({
    entityID: ENTITY,
    privateKey: samlKeys.idp.key,
    signingCert: samlKeys.idp.cert,
    nameIDFormat: [Constants.namespace.format.emailAddress],
    singleSignOnService: [{ Binding: Constants.namespace.binding.redirect, Location: SSO_URL }],
    singleLogoutService: [{ Binding: Constants.namespace.binding.redirect, Location: `${SSO_URL}/out` }],
    requestSignatureAlgorithm: Constants.algorithms.signature.RSA_SHA256,
  });
  const sp = ServiceProvider({
    metadata:
      signing === 'answer'
        ? metadata.replace('AssertionsSigned="true"', 'AssertionsSigned="false"')
        : metadata,
    wantMessageSigned: signing !== 'assertion',
  });
  /** A login that the peer answers for somebody. @param change alters the answer after it was signed */
  async function signIn(email: string, change = (xml: string) => xml) {
    const { authorizeUrl } = (await startLogin(service, { org: acme.developerId })).json();
    const url = new URL(authorizeUrl);
    const request = await idp.parseLoginRequest(sp, 'redirect', {
      query: Object.fromEntries(url.searchParams),
    });
    const { context } = await idp.createLoginResponse(sp, { extract: request.extract }, 'post', { email });
    const xml = change(Buffer.from(context, 'base64').toString());
    return service.app.inject({
      method: 'POST',
      url: '/sso/callback/saml',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      payload: new URLSearchParams({
        SAMLResponse: Buffer.from(xml).toString('base64'),
        RelayState: url.searchParams.get('RelayState') ?? '',
      }).toString(),
    });
  }
  return { signIn, metadata };
}

test('another library reads our metadata and request, and its signed answers sign people in', async () => {
  const { signIn, metadata } = await startPeer();
  expect(metadata).toContain('WantAssertionsSigned="true"');
  expect((await signIn('ada@acme.test')).json()).toMatchObject({
    sub: 'ada@acme.test',
    email: 'ada@acme.test',
  });
  const both = await startPeer('answer and assertion');
  expect((await both.signIn('ada@acme.test')).json()).toMatchObject({ sub: 'ada@acme.test' });
});

test('M1, M2: its answers are refused with the assertion unsigned, altered, doubled or commented', async () => {
  const { signIn } = await startPeer();
  const assertion = (xml: string) => /<saml:Assertion[\s\S]*<\/saml:Assertion>/.exec(xml)?.[0] ?? '';
  const changes: Readonly<Record<string, (xml: string) => string>> = {
    altered: (xml) => xml.replace('ada@acme.test', 'admin@acme.test'),
    unsigned: (xml) => xml.replace(/<ds:Signature[\s\S]*?<\/ds:Signature>/, ''),
    doubled: (xml) => xml.replace(assertion(xml), () => assertion(xml) + assertion(xml)),
    commented: (xml) => xml.replace('ada@acme.test', 'ada@acme.test<!-- -->'),
  };
  expect((await signIn('ada@acme.test')).statusCode).toBe(200); // the control
  for (const [name, change] of Object.entries(changes)) {
    let isChanged = false;
    const answer = await signIn('ada@acme.test', (xml) => {
      isChanged = change(xml) !== xml;
      return change(xml);
    });
    expect([name, isChanged, refusalOf(answer)]).toEqual([name, true, '401 SSO_AUTH_FAILED']);
  }
  const outer = await startPeer('answer');
  expect(refusalOf(await outer.signIn('ada@acme.test'))).toBe('401 SSO_AUTH_FAILED');
});
