import { createRequire } from 'node:module';
import { expect, test } from 'vitest';
import { refusalOf } from '../../../../test/app/flow.ts';
import { addSaml, samlKeys } from '../../../../test/app/saml-provider.ts';
import { besideProvider, startLogin } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';

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
