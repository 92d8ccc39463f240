import { randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { entriesOf, grantTo, openSession, refusalOf } from '../../../../test/app/flow.ts';
import { openAtEachWork, send } from '../../../../test/app/repeating.ts';
import { type Developer, type Service, startApp } from '../../../../test/app/start-app.ts';
import { contrastWithWhite } from './brand.rules.ts';

let service: Service;
beforeAll(async () => {
  service = await startApp({ isShared: true });
});
afterAll(() => service.stop());

const PATH = '/v1/me/branding';
const TEAL = [11, 90, 104, 255];

/** A picture of one colour. */
function plain(width: number, height: number, colour = TEAL): Buffer {
  const png = new PNG({ width, height });
  for (let at = 0; at < png.data.length; at += 4) png.data.set(colour, at);
  return PNG.sync.write(png);
}

function chunk(type: string, data: Buffer = Buffer.alloc(0)): Buffer {
  const named = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const [length, sum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  sum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, sum]);
}

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');

function header(width: number, height: number, { interlace = 0, bits = 8, kind = 6 } = {}): Buffer {
  const data = Buffer.alloc(13);
  data.writeUInt32BE(width, 0);
  data.writeUInt32BE(height, 4);
  data.set([bits, kind, 0, 0, interlace], 8); // by default red, green, blue and alpha
  return chunk('IHDR', data);
}

const pngOf = (...chunks: Buffer[]) => Buffer.concat([SIGNATURE, ...chunks, chunk('IEND')]);
const pixels = (bytes: number) => chunk('IDAT', deflateSync(Buffer.alloc(bytes)));

const upload = (developer: Developer, logo: Buffer) =>
  developer('PATCH', PATH, { logo: logo.toString('base64') });
const fetched = (url: string) => service.app.inject(new URL(url).pathname);

describe('a logo', () => {
  test('is re-encoded at 128 pixels, and served from our origin with an immutable cache', async () => {
    const acme = await service.asDeveloper();
    const sent = plain(300, 150);

    const answer = await upload(acme, sent);
    const { logoUrl } = answer.json();
    const served = await fetched(logoUrl);
    const drawn = PNG.sync.read(served.rawPayload);

    expect(answer.statusCode).toBe(200);
    expect(logoUrl).toMatch(new RegExp(`^https://auth.test/logos/${acme.developerId}/[0-9a-f]{64}$`));
    expect([drawn.width, drawn.height, [...drawn.data.subarray(0, 4)]]).toEqual([128, 64, TEAL]);
    expect(served.headers).toMatchObject({
      'content-type': 'image/png',
      'cache-control': 'public, max-age=31536000, immutable',
      'x-content-type-options': 'nosniff',
      'cross-origin-resource-policy': 'same-origin',
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'; base-uri 'none'",
    });
    const again = await service.app.inject({
      url: new URL(logoUrl).pathname,
      headers: { 'if-none-match': String(served.headers.etag) },
    });
    expect([again.statusCode, again.body]).toEqual([304, '']);
  });

  test('keeps its size, its form and what is transparent when it is small', async () => {
    const acme = await service.asDeveloper();

    const { logoUrl } = (await upload(acme, plain(24, 96, [0, 0, 0, 0]))).json();

    const drawn = PNG.sync.read((await fetched(logoUrl)).rawPayload);
    expect([drawn.width, drawn.height, drawn.data.some((byte) => byte !== 0)]).toEqual([24, 96, false]);
  });

  test.each([1, 2, 4, 8])('is drawn from a palette with %i bits a pixel', async (bits) => {
    const acme = await service.asDeveloper();
    const palette = [chunk('PLTE', Buffer.from(TEAL.slice(0, 3))), pixels(8 * (1 + bits))];

    const { logoUrl } = (await upload(acme, pngOf(header(8, 8, { bits, kind: 3 }), ...palette))).json();

    const drawn = PNG.sync.read((await fetched(logoUrl)).rawPayload);
    expect([drawn.width, [...drawn.data.subarray(0, 4)]]).toEqual([8, TEAL]);
  });

  test('takes nothing along that hides in the file beside the pixels', async () => {
    const acme = await service.asDeveloper();
    const hidden = '<script>alert(1)</script>';
    const [start, end] = [plain(8, 8).subarray(0, 33), plain(8, 8).subarray(33)];
    const polyglot = Buffer.concat([
      start,
      chunk('tEXt', Buffer.from(`Comment\0${hidden}`)),
      chunk('zzZz', Buffer.from(hidden)),
      end,
    ]);

    const { logoUrl } = (await upload(acme, polyglot)).json();
    const clean = (await upload(acme, plain(8, 8))).json();

    expect((await fetched(clean.logoUrl)).rawPayload.toString('latin1')).not.toContain('script');
    expect(clean.logoUrl).toBe(logoUrl); // the same bytes, whatever came beside the pixels
  });

  test.each([
    [
      'an SVG',
      Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'),
      'a PNG',
    ],
    ['a page', Buffer.from('<!doctype html><script>alert(1)</script>'), 'a PNG'],
    ['a JPEG', Buffer.from('ffd8ffe000104a46494600010101', 'hex'), 'a PNG'],
    ['a GIF', Buffer.from('GIF89a'), 'a PNG'],
    ['a picture that unpacks to ten gigabytes', pngOf(header(50_000, 50_000), pixels(64)), '50000 × 50000'],
    ['a picture a little too wide', plain(1025, 1), '1025 × 1'],
    ['a picture without pixels', pngOf(header(0, 0), pixels(1)), '0 × 0'],
    [
      'a second header with another size',
      pngOf(header(1, 1), header(50_000, 50_000), pixels(5)),
      'one header',
    ],
    ['an interlaced picture', pngOf(header(1, 1, { interlace: 1 }), pixels(5)), 'interlacing'],
    ['of a depth that makes pixels large', pngOf(header(64, 64, { bits: 255 }), pixels(522_304)), '255 bits'],
    ['without bits', pngOf(header(9, 9, { bits: 0 }), pixels(9)), '0 bits'],
    ['of 16 bits a place of a palette', pngOf(header(1, 1, { bits: 16, kind: 3 }), pixels(3)), '16 bits'],
    ['of an unknown kind of colour', pngOf(header(9, 9, { kind: 5 }), pixels(9)), 'kind 5'],
    [
      'pixels of many more bytes than the size says',
      pngOf(header(1, 1), pixels(60_000_000)),
      'cannot be read',
    ],
    ['pixels of fewer bytes than the size says', pngOf(header(9, 9), pixels(5)), 'cannot be read'],
    ['no pixels', pngOf(header(1, 1)), 'cannot be read'],
    ['a broken stream', pngOf(header(1, 1), chunk('IDAT', Buffer.from('no zlib'))), 'cannot be read'],
    ['a file cut off', plain(64, 64).subarray(0, -20), 'cut off'],
    ['a signature alone', SIGNATURE, 'cut off'],
    ['a page behind the picture', Buffer.concat([plain(8, 8), Buffer.from('<script>')]), 'follows the end'],
    ['a chunk with a length beyond the file', Buffer.concat([SIGNATURE, Buffer.alloc(12, 255)]), 'cut off'],
  ])('is not %s', async (_, bytes, message) => {
    const acme = await service.asDeveloper();
    const { logoUrl } = (await upload(acme, plain(8, 8))).json();

    const refused = await upload(acme, bytes);

    expect(refusalOf(refused)).toBe('400 BAD_REQUEST');
    expect(refused.json().message).toContain(message);
    expect(refused.json().details.fields).toMatchObject([{ path: 'logo' }]);
    expect((await acme('GET', PATH)).json().logoUrl).toBe(logoUrl);
    expect(await entriesOf(acme, 'developer.updated')).toHaveLength(1);
  });

  test('is drawn for a request with an `Idempotency-Key` while no connection waits, once', async () => {
    const acme = await service.asDeveloper();
    const seen = openAtEachWork(service);
    const sendLogo = (logo: Buffer, key?: string) =>
      send(service, {
        method: 'PATCH',
        url: PATH,
        apiKey: acme.apiKey,
        body: { logo: logo.toString('base64') },
        ...(key && { key }),
      });

    const [first, again] = [await sendLogo(plain(8, 8)), await sendLogo(plain(8, 8))];
    const refused = await sendLogo(pngOf(header(9, 9), pixels(5)), 'another');

    expect(seen).toEqual([0, 0]);
    expect((await fetched(first.json().logoUrl)).statusCode).toBe(200);
    expect([again.headers['idempotency-replayed'], again.body]).toEqual(['true', first.body]);
    expect(refusalOf(refused)).toBe('400 BAD_REQUEST');
    expect(await entriesOf(acme, 'developer.updated')).toHaveLength(1);
  });

  test('has a checksum that holds', async () => {
    const acme = await service.asDeveloper();
    const wrong = plain(8, 8);
    wrong.writeUInt8(wrong.readUInt8(wrong.length - 17) ^ 1, wrong.length - 17); // of the pixels

    expect(refusalOf(await upload(acme, wrong))).toBe('400 BAD_REQUEST');
  });

  test('has at most 256 KiB, in base64', async () => {
    const acme = await service.asDeveloper();
    const noise = PNG.sync.write(
      Object.assign(new PNG({ width: 300, height: 300 }), { data: randomBytes(360_000) }),
    );

    const answers = [
      await upload(acme, noise),
      await acme('PATCH', PATH, { logo: 'no base64!' }),
      await acme('PATCH', PATH, { logo: '' }),
      await acme('PATCH', PATH, { logo: 7 }),
    ];

    expect(answers.map(refusalOf)).toEqual(Array(4).fill('400 BAD_REQUEST'));
  });

  test('is found at no other account, and no longer once it is replaced', async () => {
    const [acme, other] = [await service.asDeveloper(), await service.asDeveloper()];
    const { logoUrl } = (await upload(acme, plain(8, 8))).json();
    await upload(other, plain(9, 9));
    const statusOf = async (url: string) => (await fetched(url)).statusCode;

    expect(await statusOf(logoUrl)).toBe(200);
    expect(await statusOf(logoUrl.replace(acme.developerId, other.developerId))).toBe(404);
    expect(await statusOf(logoUrl.replace(/.$/, (last: string) => (last === '0' ? '1' : '0')))).toBe(404);
    expect(await statusOf(`${logoUrl}%00`)).toBe(404);
    await upload(acme, plain(7, 7));
    expect(await statusOf(logoUrl)).toBe(404);
  });
});

describe('a colour', () => {
  test('is kept when white text on it can be read, in either spelling', async () => {
    const acme = await service.asDeveloper();

    const answer = await acme('PATCH', PATH, { accentColor: '#7A1F5C' });

    expect(answer.json()).toEqual({ name: 'Acme', accentColor: '#7a1f5c', logoUrl: null });
    expect((await acme('GET', PATH)).json()).toEqual(answer.json());
  });

  test('is refused with its contrast when it is too light', async () => {
    const acme = await service.asDeveloper();
    await acme('PATCH', PATH, { accentColor: '#7a1f5c' });

    const refused = await acme('PATCH', PATH, {
      accentColor: '#ffcc00',
      logo: plain(8, 8).toString('base64'),
    });

    expect(refusalOf(refused)).toBe('400 BAD_REQUEST');
    expect(refused.json().message).toContain('1.51 : 1');
    expect((await acme('GET', PATH)).json()).toMatchObject({ accentColor: '#7a1f5c', logoUrl: null });
  });

  test('has the contrast that WCAG 2.2 defines', () => {
    expect(contrastWithWhite('#000000')).toBeCloseTo(21, 10);
    expect(contrastWithWhite('#ffffff')).toBeCloseTo(1, 10);
    expect([contrastWithWhite('#767676') > 4.5, contrastWithWhite('#777777') > 4.5]).toEqual([true, false]);
  });

  test.each(['#7a1f5', '7a1f5c', '#7a1f5c80', 'red', '#7a1f5g', 'url(//x)', '#7a1f5c;x', ''])(
    'is not %j',
    async (accentColor) => {
      const acme = await service.asDeveloper();
      expect(refusalOf(await acme('PATCH', PATH, { accentColor }))).toBe('400 BAD_REQUEST');
    },
  );
});

describe('the branding of an account', () => {
  test('is recorded with what was shown before, and announced without it', async () => {
    const acme = await service.asDeveloper();
    const { logoUrl } = (await upload(acme, plain(8, 8))).json();
    await acme('PATCH', PATH, { accentColor: '#7a1f5c' });
    await acme('DELETE', PATH);

    const [, second, third] = (await entriesOf(acme, 'developer.updated')).map(({ metadata }) => metadata);
    const logoHash = logoUrl.split('/').at(-1);
    expect(second).toMatchObject({
      changed: ['accentColor'],
      old: { accentColor: null },
      new: { accentColor: '#7a1f5c' },
    });
    expect(third).toMatchObject({
      changed: ['accentColor', 'logo'],
      old: { accentColor: '#7a1f5c', logoHash },
      new: { accentColor: null, logoHash: null },
    });
    const { events } = (await acme('GET', '/v1/events?types=developer.updated')).json();
    expect(events.map(({ data }: { data: object }) => data)).toMatchObject([
      { changed: ['logo'] },
      { changed: ['accentColor'] },
      { changed: ['accentColor', 'logo'] },
    ]);
    expect((await fetched(logoUrl)).statusCode).toBe(404);
    expect((await acme('GET', PATH)).json()).toMatchObject({ accentColor: null, logoUrl: null });
  });

  test('is read by the key of an agent’s host, and changed by none', async () => {
    const acme = await service.asDeveloper();
    const runtime = await acme.asRuntime();

    expect((await runtime('GET', PATH)).statusCode).toBe(200);
    expect(refusalOf(await runtime('PATCH', PATH, { accentColor: '#7a1f5c' }))).toBe('403 FORBIDDEN');
    expect(refusalOf(await runtime('DELETE', PATH))).toBe('403 FORBIDDEN');
    expect((await service.app.inject(PATH)).statusCode).toBe(401);
    expect(refusalOf(await acme('PATCH', PATH, {}))).toBe('400 BAD_REQUEST');
    expect(refusalOf(await acme('PATCH', PATH, { name: 'Acme' }))).toBe('400 BAD_REQUEST'); // `/v1/me` has it
  });

  test('comes with the answer to a page, by a path of the page’s own origin, and only where there is any', async () => {
    const sandbox = () => service.asDeveloper({ mode: 'sandbox' });
    const [acme, other] = [await sandbox(), await sandbox()];
    const logo = plain(8, 8).toString('base64');
    const { logoUrl } = (await acme('PATCH', PATH, { accentColor: '#7a1f5c', logo })).json();
    const shownBy = async (developer: Developer) => {
      await grantTo(developer);
      const { sessionToken } = (await openSession(developer)).json();
      return (await service.calling(sessionToken)('GET', '/v1/principal/grants')).json();
    };

    expect((await shownBy(acme)).branding).toEqual({
      accentColor: '#7a1f5c',
      logoUrl: new URL(logoUrl).pathname,
    });
    expect(await shownBy(other)).not.toHaveProperty('branding');
  });
});

describe('a preview', () => {
  const preview = (developer: Developer, body: object) => developer('POST', `${PATH}/preview`, body);

  test('shows the new logo and colour in one document without a script, and changes nothing', async () => {
    const acme = await service.asDeveloper();
    await acme('PATCH', '/v1/me', { name: 'Acme <b>Books</b>' });
    const before = (await acme('GET', PATH)).json();

    const answer = await preview(acme, { accentColor: '#7a1f5c', logo: plain(300, 150).toString('base64') });
    const { html } = answer.json();
    const [, picture = ''] = /src="data:image\/png;base64,([^"]+)"/.exec(html) ?? [];
    const { width, height } = PNG.sync.read(Buffer.from(picture, 'base64'));

    expect(answer.statusCode).toBe(200);
    expect([width, height]).toEqual([128, 64]);
    expect(html).toContain('--fill: #7a1f5c');
    expect(html).toContain('Acme &lt;b&gt;Books&lt;/b&gt;');
    expect(html).not.toMatch(/<script|https?:|<b>/);
    expect((await acme('GET', PATH)).json()).toEqual(before);
  });

  test('keeps what is not named, and refuses what a change would refuse', async () => {
    const acme = await service.asDeveloper();
    await acme('PATCH', PATH, { accentColor: '#7a1f5c', logo: plain(10, 10).toString('base64') });

    const { html } = (await preview(acme, { logo: null })).json();
    const withLogo = (await preview(acme, { accentColor: null })).json().html;

    expect(html).toContain('--fill: #7a1f5c');
    expect(html).not.toContain('<img');
    expect(withLogo).toContain('<img');
    expect(withLogo).not.toContain('--fill: #7a1f5c');
    expect((await preview(acme, { accentColor: '#ffff00' })).statusCode).toBe(400);
    expect((await preview(acme, { logo: 'AAAA' })).statusCode).toBe(400);
    expect((await preview(acme, {})).statusCode).toBe(400);
  });
});
