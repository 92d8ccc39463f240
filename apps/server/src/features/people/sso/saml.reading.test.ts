import { expect, test } from 'vitest';
import { entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import certificates from '../../../../test/app/idp-certificates.json' with { type: 'json' };
import {
  addSaml,
  beginSaml,
  type Facts,
  postSaml,
  responseOf,
  samlKeys,
  signed,
} from '../../../../test/app/saml-provider.ts';
import { besideProvider } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';

const CLAIMS = 'http://schemas.xmlsoap.org/ws/2005/05/identity/claims';
const attribute = (name: string, ...values: string[]) =>
  `<saml:Attribute Name="${name}">${values.map((value) => `<saml:AttributeValue>${value}</saml:AttributeValue>`).join('')}</saml:Attribute>`;

async function startSaml(members: object = {}) {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  await addSaml(acme, members);
  const org = acme.developerId;
  const answerWith = async (make: (xml: string) => string, facts: Partial<Facts> = {}) => {
    const { relayState, requestId } = await beginSaml(service, org);
    const xml = responseOf(service.clock(), { inResponseTo: requestId, ...facts });
    return postSaml(service, make(xml), relayState);
  };
  /** Signs in with these attributes in the place of all others, and a name that is no address. */
  const signIn = (...attributes: string[]) =>
    answerWith(
      (xml) => {
        const statement = `<saml:AttributeStatement>${attributes.join('')}</saml:AttributeStatement>`;
        const persistent = xml.replace('1.1:nameid-format:emailAddress', '2.0:nameid-format:persistent');
        return signed(
          persistent.replace(/<saml:AttributeStatement>.*<\/saml:AttributeStatement>/, () => statement),
        );
      },
      { nameId: 'u-1' },
    );
  /** The audit entries of refused logins. Time goes on, because the log has the first refusal of each minute. */
  const refusals = async () =>
    (await entriesOf(acme, 'sso.login_failed')).map(({ metadata }) => Object(metadata));
  return { service, acme, answerWith, signIn, refusals };
}

test('K4, m04, m05, m13: a person is read from the attributes that providers write', async () => {
  const { signIn } = await startSaml({ groupAttribute: null });
  const read = async (...attributes: string[]) => {
    const { email, name } = (await signIn(...attributes)).json();
    return [email, name];
  };
  const friendly = attribute('urn:oid:1.3.6.1.4.1.99999.1.3', 'ada@acme.test').replace(
    'Name=',
    'FriendlyName="mail" Name=',
  );
  const [given, family] = [attribute(`${CLAIMS}/givenname`, 'Ada'), attribute(`${CLAIMS}/surname`, 'King')];
  const signInName = attribute(`${CLAIMS}/name`, 'ada_acme.test#EXT#@tenant.test');
  const shown = attribute('http://schemas.microsoft.com/identity/claims/displayname', 'Countess');

  expect(await read(attribute('Email', 'ada@acme.test'))).toEqual(['ada@acme.test', null]);
  expect(await read(attribute('User.email', '\n  ada@acme.test\n'))).toEqual(['ada@acme.test', null]);
  expect(await read(friendly)).toEqual(['ada@acme.test', null]);
  const ofOthers = [
    ...['urn:mace:dir:attribute-def:mail', 'http://schemas.xmlsoap.org/claims/EmailAddress'],
    ...['user.mail', 'userEmail', 'primaryEmail', 'workEmail', 'Email Address'],
  ];
  for (const name of ofOthers) {
    expect([name, ...(await read(attribute(name, 'ada@acme.test')))]).toEqual([name, 'ada@acme.test', null]);
  }
  expect(await read(attribute('manager.email', 'boss@acme.test'))).toEqual([null, null]);
  expect(await read(attribute('full_name', 'Ada King'))).toEqual([null, 'Ada King']);
  expect(await read(signInName, given, family)).toEqual([null, 'Ada King']);
  expect(await read(signInName, given, family, shown)).toEqual([null, 'Countess']);
  expect(await read(signInName)).toEqual([null, 'ada_acme.test#EXT#@tenant.test']);
});

test('K4, m04: a name id is an address where its format may say so', async () => {
  const { answerWith } = await startSaml({ groupAttribute: null });
  const emailOf = async (format: string, nameId: string) => {
    const answer = await answerWith(
      (xml) =>
        signed(
          xml
            .replace('SAML:1.1:nameid-format:emailAddress', format)
            .replace(/<saml:AttributeStatement>.*<\/saml:AttributeStatement>/, ''),
        ),
      { nameId },
    );
    return answer.json().email;
  };

  expect(await emailOf('SAML:1.1:nameid-format:emailAddress', 'ada@acme.test')).toBe('ada@acme.test');
  expect(await emailOf('SAML:1.1:nameid-format:unspecified', 'ada@acme.test')).toBe('ada@acme.test');
  expect(await emailOf('SAML:1.1:nameid-format:unspecified', 'CORP\\\\ada')).toBeNull();
  expect(await emailOf('SAML:2.0:nameid-format:persistent', 'ada@acme.test')).toBeNull();
});

test('K4: a person is read from the attributes that the connection names', async () => {
  const members = { emailAttribute: 'contact', nameAttribute: 'nick', groupAttribute: null };
  const { signIn } = await startSaml({ ...members, domains: ['acme.test'] });
  const addresses = attribute('contact', 'ada@old.test', 'ada@acme.test');

  expect(
    (await signIn(attribute('email', 'x@acme.test'), addresses, attribute('nick', 'Ada'))).json(),
  ).toMatchObject({ email: 'ada@acme.test', name: 'Ada' });
  expect(refusalOf(await signIn(attribute('email', 'x@acme.test')))).toBe('403 SSO_DOMAIN_NOT_ALLOWED');
});

test('K3, m07: a link in the place of groups signs nobody in, and no attribute is no group', async () => {
  const groups = 'http://schemas.microsoft.com/ws/2008/06/identity/claims/groups';
  const { acme, signIn, refusals } = await startSaml({
    groupAttribute: groups,
    groupMappings: { staff: ['calendar:read'] },
    defaultScopes: ['files:read'],
  });
  const link = attribute('http://schemas.microsoft.com/claims/groups.link', 'https://graph.test/u/1');

  expect((await signIn(link)).json()).toMatchObject({
    code: 'SSO_AUTH_FAILED',
    message: expect.stringContaining('Entra ID'),
    details: { sub_reason: 'groups_unreadable', cause: 'overage' },
  });
  expect(await refusals()).toMatchObject([{ reason: 'groups_unreadable' }]);
  expect((await acme('GET', '/v1/sso/sessions')).json().sessions).toEqual([]);
  expect((await signIn(link, attribute(groups, 'staff'))).json()).toMatchObject({
    mappedScopes: ['calendar:read'],
  });
  expect((await signIn()).json()).toMatchObject({ mappedScopes: ['files:read'] });
});

const without = (xml: string) => xml.replace(/<saml:Assertion [\s\S]*<\/saml:Assertion>/, '');
const FAILED = 'urn:oasis:names:tc:SAML:2.0:status:Responder';

test('K6: each refusal of an answer has its own reason, with the value and the repair', async () => {
  const { service, answerWith, refusals } = await startSaml();
  const sign = (xml: string) => signed(xml);
  const cases: readonly (readonly [
    reason: string,
    facts: Partial<Facts>,
    make?: (xml: string) => string,
    said?: string,
  ])[] = [
    ['status', { status: FAILED }, without, FAILED], // a failure has no assertion
    ['status', { status: FAILED }, sign, FAILED],
    ['assertions', {}, without],
    ['unsigned', {}, (xml) => xml],
    ['destination', { destination: 'https://other.test/acs' }, sign, 'https://other.test/acs'],
    ['issuer', { issuer: 'https://other.test' }, sign, 'https://other.test'],
    ['recipient', { recipient: 'https://other.test/acs' }, sign, 'https://other.test/acs'],
    ['audience', { audience: 'https://other.test' }, sign, 'https://other.test'],
    ['in_response_to', { inResponseTo: '_other' }],
    ['in_response_to', { confirmedInResponseTo: '_other' }],
    ['confirmation', { method: 'urn:oasis:names:tc:SAML:2.0:cm:holder-of-key' }],
    ['expired', { confirmedUntil: -61 }],
    ['expired', { until: -61 }],
    ['not_yet_valid', { from: 61 }],
    ['certificate_unknown', {}, (xml) => signed(xml, { by: 'mallory' })],
    ['signature', {}, (xml) => sign(xml).replace('ada@acme.test', 'eve@acme.test')],
    ['xml', {}, (xml) => `<!DOCTYPE r>${sign(xml)}`],
  ];
  for (const [reason, facts, make = sign] of cases) {
    expect(`${reason}: ${refusalOf(await answerWith(make, facts))}`).toBe(`${reason}: 401 SSO_AUTH_FAILED`);
    service.advance(60); // the log has the first refusal of each minute
  }
  expect((await answerWith(sign)).statusCode).toBe(200); // the control

  const found = (await refusals()).map(({ reason, said, message }) => [reason, said, typeof message]);
  const expected = cases.map(([reason, , , said]) => [reason, said, 'string']);
  expect(found.toSorted()).toEqual(expected.toSorted());
});

test('the request that a signed confirmation answers is compared, beside that of the answer', async () => {
  const { answerWith, refusals } = await startSaml();
  const sign = (xml: string) => signed(xml);

  expect((await answerWith(sign)).statusCode).toBe(200); // the control
  expect(refusalOf(await answerWith(sign, { confirmedInResponseTo: '_other' }))).toBe('401 SSO_AUTH_FAILED');
  expect(await refusals()).toMatchObject([{ reason: 'in_response_to' }]);
});

test('K1, m15: a comment around the assertion is passed over, and one in it or in a signature is refused', async () => {
  const { service, answerWith, refusals } = await startSaml();
  const comment = '<!-- issued by node 2 -->';
  const before = (part: string) => (xml: string) => signed(xml).replace(part, () => comment + part);

  expect((await answerWith(before('<samlp:Status>'))).statusCode).toBe(200);
  expect((await answerWith(before('<samlp:Response'))).statusCode).toBe(200);
  expect((await answerWith((xml) => `${signed(xml)}${comment}`)).statusCode).toBe(200);
  for (const part of ['<saml:Subject>', '</saml:NameID>', '<SignedInfo', '</DigestValue>']) {
    const answer = await answerWith(before(part));
    expect(`${part}: ${refusalOf(answer)}`).toBe(`${part}: 401 SSO_AUTH_FAILED`);
    service.advance(60); // the log has the first refusal of each minute
  }
  expect(new Set((await refusals()).map(({ reason }) => reason))).toEqual(new Set(['comment']));
  const hidden = (xml: string) =>
    signed(xml).replace('<samlp:Status>', () => '<!-- a -- b --><samlp:Status>');
  expect(refusalOf(await answerWith(hidden))).toBe('401 SSO_AUTH_FAILED');
});

test('K1, x05: a weak certificate beside a good one is dropped, and more than ten are refused by number', async () => {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const { weak, more } = certificates;
  const both = [weak, samlKeys.idp.cert];
  const made = await addSaml(acme, { idpCertificate: both });

  expect(made.idpCertificates).toHaveLength(1);
  const path = `/v1/sso/connections/${made.id}`;
  expect((await acme('PATCH', path, { idpCertificate: weak })).json().details).toEqual({
    fields: [{ path: 'idpCertificate', problem: 'format' }],
  });
  expect((await acme('PATCH', path, { idpCertificate: more })).json()).toMatchObject({
    message: expect.stringContaining('These are 11 certificates'),
  });
  expect((await acme('PATCH', path, { idpCertificate: more.slice(1) })).json().idpCertificates).toHaveLength(
    10,
  );
});

test('K5: an answer has up to 256 KiB, and its form up to twice that', async () => {
  const { service, answerWith, refusals } = await startSaml({ groupAttribute: null });
  const padded = (bytes: number) => (xml: string) => {
    const whole = signed(xml);
    return whole.replace('</samlp:Response>', `${' '.repeat(bytes - whole.length)}</samlp:Response>`);
  };

  expect((await answerWith(padded(262_144))).statusCode).toBe(200);
  expect(refusalOf(await answerWith(padded(262_145)))).toBe('401 SSO_AUTH_FAILED');
  expect(await refusals()).toMatchObject([{ reason: 'too_large' }]);
  const { body } = await service.app.inject({
    method: 'POST',
    url: '/sso/callback/saml',
    headers: { 'content-type': 'application/x-www-form-urlencoded' },
    payload: 'a'.repeat(524_289),
  });
  expect(JSON.parse(body).details).toEqual({ limit: 524_288 });
});

const sign = (xml: string) => signed(xml);
const put = (xml: string, old: string, part: string) => xml.replace(old, () => part);
const partOf = (xml: string, name: string) =>
  new RegExp(`<(?:\\w+:)?${name}[ >][\\s\\S]*</(?:\\w+:)?${name}>`).exec(xml)?.[0] ?? '';
const textOf = (xml: string, name: string) => partOf(xml, name).replace(/<[^>]+>/g, '');

const ADMIN = 'admin@acme.test';
const altered = (xml: string) => xml.replaceAll('ada@acme.test', ADMIN);
/** The parts of a signature that somebody else has made over the altered answer: its digest is right. */
const forgedOver = (xml: string) => signed(altered(xml), { by: 'mallory' });

/** Attacks that other programs let through, by their numbers in the list of known vulnerabilities. */
const known: Readonly<Record<string, (xml: string) => string>> = {
  'CVE-2025-29774 (xml-crypto): a second SignedInfo before the signed one': (xml) => {
    const [good, forged] = [sign(xml), forgedOver(xml)];
    const both = partOf(forged, 'SignedInfo') + partOf(good, 'SignedInfo');
    const twice = put(forged, partOf(forged, 'SignedInfo'), both);
    return put(twice, partOf(twice, 'SignatureValue'), partOf(good, 'SignatureValue'));
  },
  'CVE-2025-29775 (xml-crypto): a comment in the digest': (xml) => {
    const [good, forged] = [sign(xml), forgedOver(xml)];
    const [digest, wrong] = [textOf(good, 'DigestValue'), textOf(forged, 'DigestValue')];
    return put(altered(good), `>${digest}<`, `><!--${wrong}-->${digest}<`);
  },
  'CVE-2024-45409 (ruby-saml): another digest before the signature': (xml) => {
    const [good, forged] = [sign(xml), forgedOver(xml)];
    const extension = `<samlp:Extensions>${partOf(forged, 'DigestValue')}</samlp:Extensions>`;
    const changed = altered(good);
    return put(changed, '<saml:Assertion ', `${extension}<saml:Assertion `);
  },
  'CVE-2022-39299 (node-saml): another answer before the signed one': (xml) => altered(xml) + sign(xml),
  'CVE-2022-39299 (node-saml): another answer after the signed one': (xml) => sign(xml) + altered(xml),
  'CVE-2017-11427 (python3-saml): a comment that cuts the name': (xml) =>
    sign(xml.replaceAll('ada@acme.test', `${ADMIN}<!---->.ada@acme.test`)),
  'CVE-2021-21238 (pysaml2): a signature without a reference': (xml) => {
    const good = sign(xml);
    return put(altered(good), partOf(good, 'Reference'), '');
  },
  'CVE-2021-21239 (pysaml2): the key of the answer itself': (xml) => forgedOver(xml),
  'RFC 9231, section 2.2: an HMAC in place of the signature': (xml) =>
    put(
      altered(sign(xml)),
      'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
      'http://www.w3.org/2001/04/xmldsig-more#hmac-sha256',
    ),
};

test('M1, M2, M3: no known attack on other readers of SAML signs anybody in', async () => {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  await addSaml(acme);
  const answerWith = async (make: (xml: string) => string) => {
    const { relayState, requestId } = await beginSaml(service, acme.developerId);
    const xml = responseOf(service.clock(), { inResponseTo: requestId });
    return postSaml(service, make(xml), relayState);
  };
  const changed = Object.values(known).map((make) => {
    const xml = responseOf(service.clock(), { inResponseTo: '_control' });
    return make(xml) !== sign(xml) && make(xml).includes(ADMIN);
  });

  expect(changed).toEqual(changed.map(() => true)); // each case is what it says
  expect((await answerWith(sign)).statusCode).toBe(200); // the control
  for (const [name, make] of Object.entries(known)) {
    expect(`${name}: ${refusalOf(await answerWith(make))}`).toBe(`${name}: 401 SSO_AUTH_FAILED`);
  }
});
