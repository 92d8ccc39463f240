import { expect, test } from 'vitest';
import { refusalOf } from '../../../../test/app/flow.ts';
import { addSaml, beginSaml, postSaml, responseOf, signed } from '../../../../test/app/saml-provider.ts';
import { besideProvider } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';

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
