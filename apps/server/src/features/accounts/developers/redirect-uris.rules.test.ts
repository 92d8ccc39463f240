import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { isRedirectUri } from './developers.rules.ts';

describe('a redirect URI', () => {
  test.each([
    'https://app.example/cb',
    'https://app.example',
    'https://app.example/',
    'https://app.example?tenant=7',
    'https://app.example:8443/cb?tenant=7&next=/../home',
    'https://App.Example/CB',
    'https://203.0.113.7/cb',
    'https://[2001:db8::7]:8443/cb',
    'https://xn--bcher-kva.example/cb',
    'https://my_app.internal/cb',
    'https://app.example/a%2Fb',
    'https://app.example/who@example',
    'https://app.example/a..b/...',
    'http://localhost/cb',
    'http://LOCALHOST:3000/cb',
    'http://127.0.0.1:3000/cb',
    'http://[::1]:3000/cb',
    'com.example.app:/cb',
    'com.example.app:/cb?from=me@example',
    'com.example.app://cb/deep',
    'com.example-2.app:/',
  ])('may be %s', (uri) => {
    expect(isRedirectUri(uri)).toBe(true);
  });

  describe('O1 is refused', () => {
    test.each([
      [
        'without the form of a URI',
        ['', 'app', '/cb', '//app.example/cb', 'app.example/cb', 'https:', 'https://', 'https:///cb'],
      ],
      ['without the two slashes', ['https:app.example', 'https:/app.example/cb', 'http:localhost/cb']],
      ['with more than two slashes', ['https:///app.example/cb', 'https:////app.example/cb']],
      [
        'in plain text beyond this machine',
        ['http://app.example/cb', 'http://192.168.0.1/cb', 'http://127.0.0.2/cb'],
      ],
      [
        'with a host that only looks local',
        [
          'http://localhost.evil.example/cb',
          'http://localhost@evil.example/cb',
          'http://evil.example#localhost',
        ],
      ],
      [
        'that is local to the parser alone',
        [
          'http://2130706433/cb',
          'http://0x7f.1/cb',
          'http://127.1/cb',
          'http://0177.0.0.1/cb',
          'http://%6cocalhost/cb',
          'http://[0:0:0:0:0:0:0:1]/cb',
          'http://[::ffff:127.0.0.1]/cb',
          'http://localhost./cb',
        ],
      ],
      [
        'with user information',
        [
          'https://good.example@evil.example/cb',
          'https://user:secret@app.example/cb',
          'https://@app.example/cb',
          'https://:@app.example/cb',
          'com.example.app://user@host/cb',
          'com.example.app://user:secret@host/cb',
        ],
      ],
      [
        'with a fragment',
        ['https://app.example/cb#', 'https://app.example/cb#token', 'com.example.app:/cb#x'],
      ],
      [
        'with a path that climbs',
        [
          'https://app.example/..',
          'https://app.example/a/../cb',
          'https://app.example/a/..',
          'https://app.example/a/%2e%2e/cb',
          'https://app.example/a/.%2E/cb',
          'https://app.example/a%2f..%2fcb',
          'https://app.example/a%2F%2e%2e',
          'https://app.example/a%5c..%5ccb',
          'https://app.example/a/..;x/cb',
          'https://app.example/a/..?x',
          'com.example.app:/../cb',
        ],
      ],
      [
        'with a back-slash',
        ['https://app.example\\cb', 'https:\\\\app.example/cb', 'https://app.example/cb\\..\\x'],
      ],
      [
        'with white space or a control character',
        [
          ' https://app.example/cb',
          'https://app.example/cb ',
          'https://app.example/c b',
          'https://app.example/\tcb',
          'https://app.example/cb\n',
          'https://app.example/\u0000',
          'https://app.example/\u007f',
          'java\nscript.x:/cb',
        ],
      ],
      [
        'with characters beyond ASCII',
        [
          'https://bücher.example/cb',
          'https://app.example/çb',
          'https://app.example/\u202Ecb',
          'https://аpp.example/cb',
        ],
      ],
      ['with a character that no URI has', ['https://app.example/"', 'https://app.example/<b>']],
      ['with a wildcard for a host', ['https://*.example/cb', 'https://*/cb']],
      [
        'with an impossible host',
        ['https://app.example%2f.evil/cb', 'https://[::1/cb', 'https://app.example,evil/cb'],
      ],
      [
        'with an impossible port',
        [
          'https://app.example:/cb',
          'https://app.example:0/cb',
          'https://app.example:0443/cb',
          'https://app.example:99999/cb',
          'https://app.example:443a/cb',
        ],
      ],
      ['with a scheme in capitals', ['HTTPS://app.example/cb', 'Http://localhost/cb', 'COM.example.app:/cb']],
      [
        'with a scheme without a dot',
        [
          'myapp:/cb',
          'myapp://cb',
          'javascript:alert(1)',
          'javascript:/cb',
          'javascript://x/%0aalert(1)',
          'data:text/html,x',
          'file:///etc/passwd',
          'ftp://app.example/cb',
          'blob:https://app.example/x',
          'about:blank',
          'ws://localhost/cb',
          'urn:ietf:wg:oauth:2.0:oob',
        ],
      ],
      [
        'with a scheme whose dot is in the wrong place',
        ['.app:/cb', 'com.:/cb', 'com..app:/cb', '7.app:/cb'],
      ],
      [
        'with a scheme of an app and no path',
        ['com.example.app:', 'com.example.app:cb', 'com.example.app:?x'],
      ],
    ])('%s', (_what, uris) => {
      for (const uri of uris) expect(isRedirectUri(uri), uri).toBe(false);
    });
  });

  test('leads to the host that its text shows, whatever a parser makes of it', () => {
    const parts = fc.constantFrom(
      'https:',
      'http:',
      '//',
      '/',
      '\\',
      '@',
      ':',
      '#',
      '?',
      '..',
      '%2e',
      'localhost',
      '127.0.0.1',
      'evil.example',
      'a.b:',
      '80',
    );

    fc.assert(
      fc.property(fc.array(parts, { maxLength: 10 }), (some) => {
        const text = some.join('');
        if (!isRedirectUri(text)) return;
        const { protocol, host, username, password } = new URL(text);
        expect(username + password).toBe('');
        expect(text.startsWith(protocol)).toBe(true);
        if (protocol === 'https:' || protocol === 'http:') {
          expect(
            text
              .slice(protocol.length + 2)
              .toLowerCase()
              .startsWith(host),
          ).toBe(true);
        }
        if (protocol === 'http:')
          expect(['localhost', '127.0.0.1', '[::1]']).toContain(new URL(text).hostname);
      }),
      { numRuns: 5000 },
    );
  });
});
