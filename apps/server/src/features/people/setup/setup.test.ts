import { X509Certificate } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { actionsOf, entriesOf, refusalOf } from '../../../../test/app/flow.ts';
import certificates from '../../../../test/app/idp-certificates.json' with { type: 'json' };
import keys from '../../../../test/app/saml-keys.json' with { type: 'json' };
import { metadataWith } from '../../../../test/app/saml-provider.ts';
import { besideProvider } from '../../../../test/app/signing-on.ts';
import { startApp } from '../../../../test/app/start-app.ts';
import { readSamlMetadata } from '../sso/metadata.rules.ts';

async function startSetup(body: object = {}) {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const made = await acme('POST', '/v1/sso/setup-links', {
    name: 'Initech',
    purposes: ['sso', 'scim'],
    acknowledge: 'all people of the account',
    ...body,
  });
  const link = made.json();
  const secret = new URL(String(link.url)).hash.slice('#link='.length);
  const post = (step: string, payload: object, headers: Record<string, string> = {}) =>
    service.app.inject({ method: 'POST', url: `/setup/${step}`, headers, payload });
  const opened = async () => String((await post('open', { link: secret })).json().session);
  return { service, acme, link, secret, post, opened };
}

test('M14: a link opens once, for its time, until it is revoked or finished; its session is no credential elsewhere', async () => {
  const { service, acme, link, secret, post, opened } = await startSetup({ expiresIn: 300 });
  const refusals = [
    await post('open', { link: `${secret}x` }),
    await post('open', { link: link.id }),
    await post('read', { session: secret }),
    await post('open', { link: secret }, { origin: 'https://mallory.test', 'sec-fetch-site': 'cross-site' }),
  ];
  expect(refusals.map(({ statusCode }) => statusCode)).toEqual([404, 404, 404, 403]);

  const session = await opened();
  expect((await post('open', { link: secret })).statusCode).toBe(404);
  expect((await post('read', { session })).json()).toMatchObject({ name: 'Initech', protocol: null });
  const elsewhere = service.calling(session);
  expect((await elsewhere('GET', '/v1/sso/connections')).statusCode).toBe(401);
  expect((await elsewhere('GET', '/scim/v2/Users')).statusCode).toBe(401);

  service.advance(299.999);
  expect((await post('read', { session })).statusCode).toBe(200);
  service.advance(0.001);
  expect((await post('read', { session })).statusCode).toBe(404);
  expect((await acme('GET', '/v1/sso/setup-links')).json().links).toMatchObject([{ status: 'expired' }]);

  const second = (await acme('POST', '/v1/sso/setup-links', { name: 'B', purposes: ['sso'] })).json();
  const third = (await acme('POST', '/v1/sso/setup-links', { name: 'C', purposes: ['sso'] })).json();
  const secretOf = ({ url }: { url: string }) => url.split('#link=')[1];
  const ofSecond = (await post('open', { link: secretOf(second) })).json().session;
  expect((await acme('DELETE', `/v1/sso/setup-links/${second.id}`)).statusCode).toBe(204);
  expect((await post('read', { session: ofSecond })).statusCode).toBe(404);
  const ofThird = (await post('open', { link: secretOf(third) })).json().session;
  expect((await post('finish', { session: ofThird })).statusCode).toBe(204);
  expect((await post('read', { session: ofThird })).statusCode).toBe(404);
  expect(await actionsOf(acme)).toEqual(expect.arrayContaining(['setup.link.opened', 'setup.finished']));
});

test('M14: a link reaches its purposes and its connection alone', async () => {
  const { acme, post, opened } = await startSetup({ purposes: ['scim'] });
  const session = await opened();
  const provider = { session, issuerUrl: 'https://idp.test', clientId: 'c', clientSecret: 's' };
  expect((await post('provider', provider)).statusCode).toBe(404);
  expect((await post('test', { session })).statusCode).toBe(404);
  expect((await post('token', { session })).json().token).toMatch(/^bh_scim_/);
  expect((await acme('GET', '/v1/sso/connections')).json().connections).toEqual([]);

  const foreign = await startSetup();
  const other = {
    name: 'x',
    protocol: 'oidc',
    issuerUrl: 'https://idp.test',
    clientId: 'c',
    clientSecret: 's',
  };
  const { id: connectionId } = (await acme('POST', '/v1/sso/connections', other)).json();
  const stolen = await foreign.acme('POST', '/v1/sso/setup-links', {
    name: 'x',
    purposes: ['sso'],
    connectionId,
  });
  expect(stolen.statusCode).toBe(404);
});

test('SAML metadata make a connection on trial, and a new certificate changes the same connection', async () => {
  const { acme, post, opened, link } = await startSetup({ purposes: ['sso'] });
  const session = await opened();
  const certificate = new X509Certificate(keys.idp.cert).raw.toString('base64');
  const save = (metadata: string) => post('provider', { session, metadata });

  expect((await save('<nothing/>')).json().message).toContain('EntityDescriptor');
  expect((await save(metadataWith(certificate).replace('Redirect', 'POST'))).json().message).toContain(
    'SingleSignOnService',
  );
  const saved = await save(metadataWith(certificate, '<!-- made by a provider -->'));
  expect(saved.json()).toMatchObject({ protocol: 'saml', acsUrl: 'https://auth.test/sso/callback/saml' });
  expect((await save(metadataWith(certificate))).statusCode).toBe(200);
  expect((await post('test', { session })).json()).toEqual({ success: true });

  const { connections } = (await acme('GET', '/v1/sso/connections')).json();
  expect(connections).toMatchObject([
    {
      ...{
        name: 'Initech',
        status: 'testing',
        idpEntityId: 'https://idp.test/saml',
        idpSsoUrl: 'https://idp.test/sso',
      },
      spEntityId: `https://auth.test/sso/saml/${link.id}`,
    },
  ]);
});

describe('metadata', () => {
  const certificate = new X509Certificate(keys.idp.cert).raw.toString('base64');
  const { weak, more } = certificates;
  const another = (id: string) => metadataWith(certificate).replace('https://idp.test/saml', id);
  const entityOf = (xml: string) => xml.replace(/<\?xml.*\?>/, '');
  const several = (...entities: string[]) =>
    `<md:EntitiesDescriptor xmlns:md="urn:oasis:names:tc:SAML:2.0:metadata">${entities.map(entityOf).join('')}</md:EntitiesDescriptor>`;
  const withKeys = (...texts: string[]) => {
    const key = (text: string) =>
      `<md:KeyDescriptor><ds:KeyInfo xmlns:ds="http://www.w3.org/2000/09/xmldsig#"><ds:X509Data><ds:X509Certificate>${text}</ds:X509Certificate></ds:X509Data></ds:KeyInfo></md:KeyDescriptor>`;
    return metadataWith(certificate).replace(/<md:KeyDescriptor[\s\S]*<\/md:KeyDescriptor>/, () =>
      texts.map(key).join(''),
    );
  };

  async function startSaving() {
    const setup = await startSetup({ purposes: ['sso'] });
    const session = await setup.opened();
    const save = (metadata: string) => setup.post('provider', { session, metadata });
    const held = async () => (await setup.acme('GET', '/v1/sso/connections')).json().connections;
    return { ...setup, save, held };
  }

  test('K10, x06: that cannot work are refused with the reason, and make no connection', async () => {
    const { save, held, service } = await startSaving();
    const past = new Date(service.clock().getTime() - 1000).toISOString();
    const refused: Readonly<Record<string, string>> = {
      'describe 2 identity providers: `https://idp.test/a`, `https://idp.test/b`': several(
        another('https://idp.test/a'),
        another('https://idp.test/b'),
      ),
      [`were valid until ${past}`]: metadataWith(certificate).replace(
        ' entityID',
        ` validUntil="${past}" entityID`,
      ),
      'demands signed requests': metadataWith(certificate).replace(
        ' protocolSupport',
        ' WantAuthnRequestsSigned="true" protocolSupport',
      ),
      'hold 11 certificates': withKeys(...more),
      'certificate in the metadata is weak': withKeys(weak),
      'No certificate in the metadata can be read': withKeys('AAAA'),
      'X509Certificate is missing': withKeys(),
      'no SAML 2.0': metadataWith(certificate).replace('SAML:2.0:protocol', 'SAML:1.1:protocol'),
      'binding HTTP-Redirect is missing': metadataWith(certificate).replace('Redirect', 'POST'),
      IDPSSODescriptor: several(entityOf(another('https://sp.test')).replaceAll('IDPSSO', 'SPSSO')),
    };
    for (const [words, metadata] of Object.entries(refused)) {
      const { statusCode, json } = await save(metadata);
      expect([statusCode, json().message]).toEqual([400, expect.stringContaining(words)]);
    }
    expect(await held()).toEqual([]);
  });

  test('K1, x05: keep the good certificates beside weak, expired, doubled and broken ones', async () => {
    const { save, held } = await startSaving();
    expect((await save(withKeys(weak, 'AAAA', certificate, certificate, String(more[0])))).statusCode).toBe(
      200,
    );
    expect((await held())[0].idpCertificates).toHaveLength(2);
  });

  test('K1: leave out an expired certificate', async () => {
    const { service, acme } = await startSetup();
    service.advance(3651 * 86_400);
    const { url } = (await acme('POST', '/v1/sso/setup-links', { name: 'B', purposes: ['sso'] })).json();
    const post = (step: string, payload: object) =>
      service.app.inject({ method: 'POST', url: `/setup/${step}`, payload });
    const { session } = (await post('open', { link: url.split('#link=')[1] })).json();
    const save = (metadata: string) => post('provider', { session, metadata });

    expect((await save(withKeys(certificate))).json().message).toContain('has expired');
    expect((await save(withKeys(certificate, String(more[0])))).statusCode).toBe(200);
    expect((await acme('GET', '/v1/sso/connections')).json().connections[0].idpCertificates).toHaveLength(1);
  });

  test('K1: are read beside services, comments, instructions and CDATA sections', async () => {
    const { save, held } = await startSaving();
    const service = another('https://sp.test').replaceAll('IDPSSO', 'SPSSO');
    const noise = '<!-- a --><?php x ?><md:Name><![CDATA[A & B <c>]]></md:Name>';
    const metadata = several(service, noise, another('https://idp.test/a'));

    expect((await save(`${noise}${metadata}`)).json().message).toContain('XML'); // two roots
    expect((await save(metadata)).statusCode).toBe(200);
    expect(await held()).toMatchObject([{ idpEntityId: 'https://idp.test/a' }]);
  });

  test('K5, x02: have up to 1 MiB', async () => {
    const { save, held } = await startSaving();
    const padded = (bytes: number) => {
      const xml = metadataWith(certificate);
      return xml
        .replace('</md:EntityDescriptor>', `${'<a b="c"/>'.repeat(100)}</md:EntityDescriptor>`)
        .padEnd(bytes);
    };

    expect((await save(padded(1_048_577))).json()).toMatchObject({
      message: expect.stringContaining('more than 1048576 bytes'),
      details: { fields: [{ path: 'metadata', problem: 'too_large' }] },
    });
    expect(await held()).toEqual([]);
    expect((await save(padded(1_048_576))).statusCode).toBe(200);
  });
});

/** A connection that a link has made and the developer has activated, and the way to make further links for it. */
async function startActivated() {
  const started = await startSetup({ purposes: ['sso'] });
  const { acme, post, opened } = started;
  const session = await opened();
  const provider = (of: string, issuerUrl: string) =>
    post('provider', { session: of, issuerUrl, clientId: 'c', clientSecret: 's' });
  expect((await provider(session, 'https://idp.test')).statusCode).toBe(200);
  const [{ id }] = (await acme('GET', '/v1/sso/connections')).json().connections;
  const path = `/v1/sso/connections/${id}`;
  expect((await acme('PATCH', path, { status: 'active' })).json().status).toBe('active');
  const linkAgain = async () => {
    const body = { name: 'Again', purposes: ['sso'], connectionId: id };
    const { url } = (await acme('POST', '/v1/sso/setup-links', body)).json();
    return String((await post('open', { link: String(url).split('#link=')[1] })).json().session);
  };
  return { ...started, session, path, provider, linkAgain };
}

test('31 M3: the activation of a connection ends the session that made it', async () => {
  const { acme, post, link, session, path, provider } = await startActivated();

  expect(refusalOf(await provider(session, 'https://evil.test'))).toBe('404 NOT_FOUND');
  expect((await post('read', { session })).statusCode).toBe(404);
  expect((await acme('GET', path)).json()).toMatchObject({ status: 'active', issuerUrl: 'https://idp.test' });
  const { links } = (await acme('GET', '/v1/sso/setup-links')).json();
  expect(links).toMatchObject([{ id: link.id, status: 'finished' }]);
  expect(await entriesOf(acme, 'setup.finished')).toMatchObject([
    { metadata: { setupId: link.id, name: 'Initech' } },
  ]);
});

test('31 M3: a later change by setup puts the connection back on trial, and not while sign-on is enforced', async () => {
  const { acme, path, provider, linkAgain } = await startActivated();
  const session = await linkAgain();
  const status = async () => (await acme('GET', path)).json().status;

  await acme('PATCH', path, { enforce: true });
  expect(refusalOf(await provider(session, 'https://new.test'))).toBe('409 CONFLICT');
  expect(await status()).toBe('active');
  await acme('PATCH', path, { enforce: false });
  expect((await provider(session, 'https://new.test')).statusCode).toBe(200);
  expect(await status()).toBe('testing');

  await acme('PATCH', path, { status: 'active' });
  expect(refusalOf(await provider(session, 'https://evil.test'))).toBe('404 NOT_FOUND');
  expect((await acme('GET', path)).json()).toMatchObject({ status: 'active', issuerUrl: 'https://new.test' });
  const third = await linkAgain();
  await acme('PATCH', path, { status: 'inactive' });
  expect((await provider(third, 'https://new.test')).statusCode).toBe(200);
  expect(await status()).toBe('inactive'); // no way in for anybody, as before
});

test('31 L7: a link for a SCIM token says that it is one over the people of the whole account', async () => {
  const { acme } = await startSetup({ purposes: ['sso'] });
  const make = (body: object) => acme('POST', '/v1/sso/setup-links', { name: 'Initech', ...body });

  const refused = await make({ purposes: ['sso', 'scim'] });
  expect(refused.json()).toMatchObject({
    code: 'BAD_REQUEST',
    details: { fields: [{ path: 'acknowledge' }] },
  });
  expect((await make({ purposes: ['scim'], acknowledge: 'yes' })).statusCode).toBe(400);
  expect((await make({ purposes: ['scim'], acknowledge: 'all people of the account' })).statusCode).toBe(201);
});

test('31 H1: metadata of a provider are read once, whatever their comments and certificates are', async () => {
  const { post, opened } = await startSetup({ purposes: ['sso'] });
  const session = await opened();
  const save = (metadata: string) => post('provider', { session, metadata });
  const certificate = new X509Certificate(keys.idp.cert).raw.toString('base64');
  const now = new Date();

  const endless = await save('<!--'.repeat(15_000));
  expect(endless.statusCode).toBe(400);
  expect(endless.json().message).toContain('XML is missing');
  const missing = { fault: expect.stringContaining('XML is missing') };
  expect(readSamlMetadata('<!--'.repeat(5_000_000), now)).toEqual(missing); // hours, if each start were followed
  expect(readSamlMetadata('<!-->-->', now)).toEqual(missing);
  const between = metadataWith(certificate, '<!-- one --><!--<two>--><!---->');
  expect(readSamlMetadata(`<!-- before -->${between}<!-- after -->`, now)).toMatchObject({
    idpEntityId: 'https://idp.test/saml',
  });
  const nested = `${'<ds:X509Certificate>'.repeat(30)}${certificate}${'</ds:X509Certificate>'.repeat(30)}`;
  expect((await save(metadataWith('').replace(/<ds:X509Certificate><.*?>/, () => nested))).statusCode).toBe(
    200,
  );
  const several = Array.from(
    { length: 101 },
    (_, at) => `<ds:X509Certificate>AA${at}</ds:X509Certificate>`,
  ).join('');
  expect(
    (await save(metadataWith('').replace(/<ds:X509Certificate><.*?>/, () => several))).json().message,
  ).toContain('The metadata hold 101 certificates');
});

test('M14: an account has a hundred links at most, and forgets them a month after their end', async () => {
  const { service, acme, link } = await startSetup({ expiresIn: 300 });
  const make = (expiresIn: number) =>
    acme('POST', '/v1/sso/setup-links', { name: 'Next', purposes: ['sso'], expiresIn });
  const listed = async () =>
    (await acme('GET', '/v1/sso/setup-links?limit=100')).json().links.map(({ id }: { id: string }) => id);
  const made = await Promise.all(Array.from({ length: 99 }, () => make(2_592_000)));
  expect(new Set(made.map(({ statusCode }) => statusCode))).toEqual(new Set([201]));

  expect((await make(300)).json().code).toBe('CONFLICT');
  service.advance(300); // the first one expires
  expect((await make(600)).statusCode).toBe(201);
  expect((await make(600)).json().code).toBe('CONFLICT');
  const [some] = made;
  await acme('DELETE', `/v1/sso/setup-links/${some?.json().id}`);
  expect((await make(600)).statusCode).toBe(201);

  service.advance(30 * 86_400 - 0.001);
  await make(300);
  expect(await listed()).toContain(link.id);
  service.advance(0.001);
  await make(300);
  expect(await listed()).not.toContain(link.id);
});
