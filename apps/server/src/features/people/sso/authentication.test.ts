import { beforeAll, describe, expect, test } from 'vitest';
import { ownDomain } from '../../../../test/app/asserting.ts';
import { partsOf } from '../../../../test/app/flow.ts';
import { newClient, pkceLink, REDIRECT } from '../../../../test/app/oauth.ts';
import { linkParts, personOn } from '../../../../test/app/person.ts';
import { sendForm } from '../../../../test/app/published.ts';
import { addSaml, postSaml, requestIdIn, responseOf, signed } from '../../../../test/app/saml-provider.ts';
import { besideProvider } from '../../../../test/app/signing-on.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { directory, findSlapd, startSlapd } from '../../../../test/servers/slapd.ts';

beforeAll(findSlapd, 300_000);

/** A live account whose people sign in by a connection, and a client of it. */
async function startSigningIn(connect: (acme: Developer, service: Service) => Promise<unknown>) {
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  await connect(acme, service);
  await acme('PATCH', '/v1/me', { consentMode: 'sso' });
  const { clientId } = await newClient(acme, { authMethod: 'none' });
  const seconds = () => Math.floor(service.clock().getTime() / 1000);

  /** A browser on its way from the client to the page at which its person signs in. */
  async function beginIn() {
    const person = personOn(service);
    const visit = async (address: string) => {
      const { pathname, search } = new URL(address, 'https://auth.test');
      const answer = await person.call('GET', pathname + search, { headers: { accept: 'text/html' } });
      return String(answer.headers.location);
    };
    const { link, verifier } = await pkceLink(clientId);
    const login = new URL(await visit(await visit(link)), 'https://auth.test');
    const cookie = () => [...person.cookies].map(([name, value]) => `${name}=${value}`).join('; ');

    /** The claims of the token, once the sign-in has led the browser back. */
    async function claimsAfter({ headers, cookies }: Awaited<ReturnType<typeof postSaml>>) {
      for (const { name, value } of cookies) person.cookies.set(name, value);
      const page = await visit(String(headers.location));
      await person.open(page);
      const { redirectTo } = (await person.approve(linkParts(page).id)).json();
      const code = new URL(redirectTo).searchParams.get('code') ?? '';
      const form = { grant_type: 'authorization_code', client_id: clientId, code, code_verifier: verifier };
      const tokens = await sendForm(service, 'token', { ...form, redirect_uri: REDIRECT });
      return partsOf(tokens.json().access_token).payload;
    }

    return { login, cookie, claimsAfter };
  }

  return { service, seconds, beginIn };
}

describe('14 §4 a token states the sign-in', () => {
  test.each([
    ['of the assertion, which was before it was shown', -600, -600],
    ['of now, where the assertion is ahead of the clock', 30, 0],
  ])('by SAML at the AuthnInstant %s', async (_, stated, expected) => {
    const { service, seconds, beginIn } = await startSigningIn(async (acme, on) => {
      await ownDomain(on, acme, 'acme.test');
      await addSaml(acme, { jitProvisioning: true, domains: ['acme.test'] });
    });
    const { login, cookie, claimsAfter } = await beginIn();
    const instant = new Date(service.clock().getTime() + stated * 1000).toISOString();
    const xml = responseOf(service.clock(), { inResponseTo: requestIdIn(login.searchParams) });
    const answer = signed(xml.replace(/AuthnInstant="[^"]+"/, `AuthnInstant="${instant}"`));

    const landed = await postSaml(service, answer, login.searchParams.get('RelayState') ?? '', cookie());
    const claims = await claimsAfter(landed);

    expect(claims.auth_time).toBe(seconds() + expected);
    expect(claims).not.toHaveProperty('amr'); // SAML names a class, and no methods
  });

  test('by a directory at the time of the password, and by the password that holds now', async () => {
    const server = await startSlapd();
    const { service, seconds, beginIn } = await startSigningIn((acme) =>
      acme('POST', '/v1/sso/connections', {
        ...{ name: 'Directory', protocol: 'ldap', ldapUrl: server.url, jitProvisioning: true },
        ...{ ldapBindDn: directory.bindDn, ldapBindPassword: directory.bindPassword },
        ldapSearchBase: directory.people,
      }),
    );
    const signIn = async (password: string) => {
      const { login, cookie, claimsAfter } = await beginIn();
      const landed = await service.app.inject({
        method: 'POST',
        url: '/sso/ldap',
        headers: { cookie: cookie(), 'content-type': 'application/x-www-form-urlencoded' },
        payload: `${new URLSearchParams({ username: 'ada', password, state: login.searchParams.get('state') ?? '' })}`,
      });
      const isBack = String(landed.headers.location).startsWith('/oauth/authorize');
      return isBack ? await claimsAfter(landed) : undefined;
    };

    const before = await signIn('password of ada');
    const begunAt = seconds();
    service.advance(3600);
    await server.setPassword('ada', 'another password');
    const refused = await signIn('password of ada');
    const after = await signIn('another password');

    expect(before).toMatchObject({ auth_time: begunAt, amr: ['pwd'] });
    expect(refused).toBeUndefined();
    expect(after).toMatchObject({ auth_time: begunAt + 3600, amr: ['pwd'] });
    expect(after?.sub).toBe(before?.sub);
  });
});
