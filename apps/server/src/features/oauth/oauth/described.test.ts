import { describe, expect, test } from 'vitest';
import { clientInDocument, isDocumentUrl } from './described.ts';
import { isClientRedirectUri, isLocalUri, isRegisteredUri } from './redirects.ts';

const CLIENT = 'https://editor.test/oauth/client.json';

describe('the address of a client', () => {
  test.each([
    CLIENT,
    'https://editor.test:8443/client.json',
    'https://editor.test/client?build=1',
    'https://xn--bcher-kva.test/client',
  ])('is usable: %s', (clientId) => {
    expect(isDocumentUrl(clientId, { allowsHttp: false })).toBe(true);
  });

  test.each([
    ['another scheme', 'http://editor.test/client.json'],
    ['no path', 'https://editor.test'],
    ['an empty path', 'https://editor.test/'],
    ['only a query', 'https://editor.test/?id=1'],
    ['a fragment', 'https://editor.test/client.json#x'],
    ['an empty fragment', 'https://editor.test/client.json#'],
    ['credentials', 'https://user@editor.test/client.json'],
    ['a password', 'https://user:secret@editor.test/client.json'],
    ['a dot segment', 'https://editor.test/a/../client.json'],
    ['an encoded dot segment', 'https://editor.test/a/%2e%2e/client.json'],
    ['a single dot', 'https://editor.test/./client.json'],
    ['upper case in its host', 'https://Editor.test/client.json'],
    ['the port of its scheme', 'https://editor.test:443/client.json'],
    ['a backslash', 'https://editor.test\\client.json'],
    ['a line break', 'https://editor.test/client\n.json'],
    ['too many characters', `https://editor.test/${'x'.repeat(1000)}`],
  ])('is refused with %s', (_name, clientId) => {
    expect(isDocumentUrl(clientId, { allowsHttp: false })).toBe(false);
  });

  test('may be `http` only where the operator allows it', () => {
    expect(isDocumentUrl('http://127.0.0.1:9/client.json', { allowsHttp: true })).toBe(true);
  });
});

const document = {
  client_id: CLIENT,
  client_name: 'Editor',
  redirect_uris: ['http://127.0.0.1/callback'],
};
const key = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
};

describe('O17: a document', () => {
  test('describes its client, and what else it says is ignored', () => {
    const told = clientInDocument({ ...document, logo_uri: 'x', contacts: [1] }, CLIENT);

    expect(told).toMatchObject({ clientId: CLIENT, name: 'Editor', authMethod: 'none', host: 'editor.test' });
    expect(told?.redirectUris).toEqual(document.redirect_uris);
  });

  test.each([
    ['another `client_id`', { client_id: `${CLIENT}/` }],
    ['no `client_id`', { client_id: undefined }],
    ['no name', { client_name: undefined }],
    ['a name with a control character', { client_name: 'Ed\u0007itor' }],
    ['a name that runs backwards', { client_name: 'Ed\u202eitor' }],
    ['a long name', { client_name: 'x'.repeat(256) }],
    ['no addresses', { redirect_uris: undefined }],
    ['an empty list of addresses', { redirect_uris: [] }],
    ['no address that a browser is sent to', { redirect_uris: ['javascript:alert(1)', 7] }],
    ['a secret', { client_secret: 'shared' }],
    ['the end of a secret', { client_secret_expires_at: 0 }],
    ['a method with a shared secret', { token_endpoint_auth_method: 'client_secret_basic' }],
    ['a method with a secret in the form', { token_endpoint_auth_method: 'client_secret_post' }],
    ['a method by an HMAC', { token_endpoint_auth_method: 'client_secret_jwt' }],
    ['a method of TLS', { token_endpoint_auth_method: 'tls_client_auth' }],
    ['a key as its method, and no key', { token_endpoint_auth_method: 'private_key_jwt' }],
    [
      'a private key',
      { token_endpoint_auth_method: 'private_key_jwt', jwks: { keys: [{ ...key, d: 'x' }] } },
    ],
    ['two sets of keys', { jwks: { keys: [key] }, jwks_uri: 'https://editor.test/jwks' }],
    ['keys at no web address', { jwks_uri: 'file:///etc/passwd' }],
  ])('is refused with %s', (_name, changes) => {
    expect(clientInDocument({ ...document, ...changes }, CLIENT)).toBeUndefined();
  });

  test('agents K6: states nothing by null, an empty text or an empty list', () => {
    const others = [
      'jwks',
      'jwks_uri',
      'token_endpoint_auth_method',
      'client_secret',
      'logo_uri',
      'grant_types',
    ];
    const plain = clientInDocument(document, CLIENT);

    for (const unset of [null, '', [], {}, [''], { keys: null }]) {
      const unsetAll = Object.fromEntries(others.map((name) => [name, unset]));
      expect(clientInDocument({ ...document, ...unsetAll }, CLIENT)).toEqual(plain);
      expect(clientInDocument({ ...document, redirect_uris: unset }, CLIENT)).toBeUndefined();
    }
    const device = ['urn:ietf:params:oauth:grant-type:device_code', 'refresh_token'];
    const ofDevice = clientInDocument({ ...document, redirect_uris: null, grant_types: device }, CLIENT);
    expect(ofDevice).toMatchObject({ redirectUris: [], refreshes: true });
    const both = [...device, 'authorization_code'];
    expect(clientInDocument({ ...document, redirect_uris: [], grant_types: both }, CLIENT)).toBeUndefined();
    const long = { ...document, client_name: 'x'.repeat(255) };
    expect(clientInDocument(long, CLIENT)?.name).toHaveLength(255);
  });

  test('may state keys, in itself or at an address', () => {
    const signs = { ...document, token_endpoint_auth_method: 'private_key_jwt' };

    expect(clientInDocument({ ...signs, jwks: { keys: [key] } }, CLIENT)?.keys).toEqual({ jwks: [key] });
    const uri = 'https://editor.test/jwks';
    expect(clientInDocument({ ...signs, jwks_uri: uri }, CLIENT)?.keys).toEqual({ uri });
  });

  test.each([undefined, null, 'text', [], 7])('is an object: %s', (other) => {
    expect(clientInDocument(other, CLIENT)).toBeUndefined();
  });
});

describe('a registered address', () => {
  test.each([
    ['https://editor.test/callback', 'https://editor.test/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback'],
    ['http://127.0.0.1:3000/callback', 'http://127.0.0.1:49152/callback'],
    ['http://127.0.0.1:3000/callback', 'http://127.0.0.1/callback'],
    ['http://localhost/callback', 'http://localhost:49152/callback'],
    ['http://[::1]/callback', 'http://[::1]:49152/callback'],
    ['http://127.0.0.1', 'http://127.0.0.1:49152'],
  ])('%s matches %s', (registered, uri) => {
    expect(isRegisteredUri([registered], uri)).toBe(true);
  });

  test.each([
    ['https://editor.test/callback', 'https://editor.test:8443/callback'],
    ['http://127.0.0.1/callback', 'http://localhost:49152/callback'],
    ['http://localhost/callback', 'http://127.0.0.1:49152/callback'],
    ['http://127.0.0.1/callback', 'http://[::1]:49152/callback'],
    ['http://127.0.0.1/callback', 'https://127.0.0.1:49152/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/other'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback/'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback?x=1'],
    ['http://127.0.0.1/callback?x=1', 'http://127.0.0.1:49152/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/a/../callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:0/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:99999/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1:49152@evil.test/callback'],
    ['http://127.0.0.1/callback', 'http://127.0.0.1.evil.test/callback'],
    ['http://127.0.0.1/callback', 'http://2130706433:49152/callback'],
    ['http://localhost.evil.test/callback', 'http://localhost.evil.test:1/callback'],
  ])('%s does not match %s', (registered, uri) => {
    expect(isRegisteredUri([registered], uri)).toBe(false);
  });
});

describe('an address of a program', () => {
  test.each([
    'cursor://anysphere.cursor-mcp/oauth/callback',
    'vscode://vscode.github-authentication/did-authenticate',
    'warp://mcp/oauth2callback',
    'raycast://oauth?package_name=Extension',
    'com.example.app:/callback',
  ])('%s may be named, and is as little vouched for as a loopback address', (uri) => {
    expect([isClientRedirectUri(uri), isRegisteredUri([uri], uri)]).toEqual([true, true]);
    expect(isLocalUri(uri)).toBe(!uri.startsWith('com.'));
  });

  test.each([
    'javascript://x/%0aalert(1)',
    'data://text/html,x',
    'vbscript://x/',
    'file://host/etc/passwd',
    'intent://scan/#Intent;end',
    'view-source://evil.test/',
    'ms-settings://x/',
    'chrome-extension://abc/cb',
    'ws://localhost/cb',
    'http://evil.test/cb',
    'https://good.test@evil.test/cb',
    'Cursor://anysphere.cursor-mcp/cb',
    'cursor:anysphere',
    'cursor:///callback',
    'cursor://user@host/cb',
    'cursor://host:80/cb',
    'cursor://host/a/../cb',
    'cursor://host/cb#x',
    'cursor://host/c b',
    'cursor://hóst/cb',
  ])('%s may not', (uri) => {
    expect(isClientRedirectUri(uri)).toBe(false);
  });
});
