import { exportJWK, SignJWT } from 'jose';
import { rsaKeys, startAccountsServer } from './accounts-server.ts';
import { addOidc, besideProvider, bringBack, startLogin } from './signing-on.ts';
import { startApp } from './start-app.ts';

export const FORGED_ACCESS_TOKEN = 'the access token';

/** A provider whose ID tokens and userinfo the test writes. */
export async function startForger(members: object = {}) {
  const provider = await startAccountsServer();
  const service = await startApp(besideProvider());
  const acme = await service.asDeveloper();
  const connection = await addOidc(acme, provider, members);
  const { publicKey, privateKey } = await rsaKeys();
  const stranger = await rsaKeys();
  const keys = [{ ...(await exportJWK(publicKey)), kid: 'k', alg: 'RS256', use: 'sig' }];
  const org = acme.developerId;
  const now = () => Math.floor(service.clock().getTime() / 1000);
  let idToken = '';
  const userinfo: { status: number; body: object } = { status: 200, body: { sub: 'ada' } };
  provider.behaviour.instead = ({ url }, respond) => {
    if (url === '/jwks') respond(200, { keys });
    else if (url === '/me') respond(userinfo.status, userinfo.body);
    else if (url === '/token') {
      respond(200, { access_token: FORGED_ACCESS_TOKEN, token_type: 'Bearer', id_token: idToken });
    } else return false;
    return true;
  };
  /** Signs in with these claims in place of good ones. */
  async function signIn(claims: object = {}, header: { alg?: string; by?: 'stranger'; kid?: string } = {}) {
    const { authorizeUrl } = (await startLogin(service, { org })).json();
    const nonce = new URL(authorizeUrl).searchParams.get('nonce');
    const payload = {
      iss: provider.issuer,
      sub: 'ada',
      aud: connection.clientId,
      nonce,
      iat: now(),
      exp: now() + 300,
      ...claims,
    };
    const { alg = 'RS256', by, kid = 'k' } = header;
    const jwt = new SignJWT(payload).setProtectedHeader({ alg, kid });
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
    const secret = Buffer.from(JSON.stringify(keys[0]));
    if (alg === 'none') idToken = `${part({ alg })}.${part(payload)}.`;
    else idToken = await jwt.sign(alg === 'HS256' ? secret : by ? stranger.privateKey : privateKey);
    return bringBack(service, await provider.visit(authorizeUrl));
  }
  return { provider, service, acme, connection, org, now, signIn, userinfo };
}
