import { beforeAll, expect, test } from 'vitest';
import { type Service, startApp } from '../../../../test/app/start-app.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
  return service.stop;
});

const get = (url: string, headers: Record<string, string> = {}) => service.app.inject({ url, headers });

test('every address of the console is its one document, under a policy that takes scripts and styles from here only', async () => {
  const answers = await Promise.all(
    ['/console', '/console/', '/console/agents', '/console/grants/grnt_1?x=1'].map((url) => get(url)),
  );

  for (const { statusCode, headers, body } of answers) {
    expect([statusCode, headers['content-type']]).toEqual([200, 'text/html; charset=utf-8']);
    expect(headers['cache-control']).toBe('no-store');
    expect(headers['x-frame-options']).toBe('DENY');
    expect(body).toBe(answers[0]?.body);
    expect(body).not.toMatch(/<script>|<style|\son\w+=|style=/);
  }
  const policy = String(answers[0]?.headers['content-security-policy']);
  expect(policy).toMatch(
    /^default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; .*frame-ancestors 'none'/,
  );
  expect(policy).not.toMatch(/unsafe|[*]|https?:/);
});

test('a script is kept for good under a name that holds its digest, and an unknown one is not the document', async () => {
  const [, script = ''] = /<script [^>]*src="([^"]+)"/.exec((await get('/console')).body) ?? [];

  const { statusCode, headers, body } = await get(script);
  const again = await get(script, { 'if-none-match': String(headers.etag) });
  const packed = await get(script, { 'accept-encoding': 'br' });

  expect([statusCode, headers['content-type']]).toEqual([200, 'text/javascript; charset=utf-8']);
  expect(headers['cache-control']).toBe('public, max-age=31536000, immutable');
  expect(again.statusCode).toBe(304);
  expect(packed.headers['content-encoding']).toBe('br');
  expect(packed.rawPayload.length).toBeLessThan(body.length / 2);
  for (const path of [
    'assets/none.js',
    'assets/%2e%2e%2fmanifest.json',
    'assets/..%2fmanifest.json',
    'assets/',
  ]) {
    expect([path, (await get(`/console/${path}`)).statusCode]).toEqual([path, 404]);
  }
});

test('only reading is a method there, and nothing of an account is in the answer', async () => {
  const acme = await service.asDeveloper();

  const posted = await service.app.inject({ method: 'POST', url: '/console/agents', body: {} });
  const withKey = await get('/console/agents', { authorization: `Bearer ${acme.apiKey}` });

  expect(posted.statusCode).toBe(405);
  expect(withKey.body).toBe((await get('/console')).body);
});
