import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { describe, expect, onTestFinished, test } from 'vitest';
import certificate from '../../../test/app/certificate.json' with { type: 'json' };
import { htmlOf, type Mail } from './mailer.ts';
import { smtpMailer as mailerOf } from './smtp-mailer.ts';

const mail = { to: 'ada@example.org', subject: 'Verify your address', text: 'A sentence.\n' };

const BASE = 'https://auth.example';
const smtpMailer = (url: string, sender: string, mustEncrypt: boolean, timeout?: number) =>
  mailerOf(url, sender, mustEncrypt, (sent: Mail) => htmlOf(sent, BASE), timeout);

/** A mail server on this machine. `taken` has the mails that it accepted, with the recipients of their envelopes. */
async function startSmtp(options: SMTPServerOptions = {}) {
  const taken: { to: string[]; isEncrypted: boolean; text: string }[] = [];
  const server = new SMTPServer({
    ...certificate,
    authOptional: true,
    logger: false,
    closeTimeout: 100,
    async onData(stream, session, done) {
      const text = (await buffer(stream)).toString();
      const to = session.envelope.rcptTo.map(({ address }) => address);
      taken.push({ to, isEncrypted: session.secure, text });
      done();
    },
    ...options,
  });
  server.on('error', () => {}); // a client that refuses its certificate
  server.listen(0, '127.0.0.1');
  await once(server.server, 'listening');
  onTestFinished(() => void server.close());
  const { port } = Object(server.server.address());
  return { taken, at: (scheme: 'smtp' | 'smtps') => `${scheme}://127.0.0.1:${port}` };
}

const from = 'Behest <no-reply@auth.example>';
/** The server's certificate is its own, which only a test may accept. */
const trusting = '?tls.rejectUnauthorized=false';

describe('a mail', () => {
  test('is handed over once, to one recipient', async () => {
    const { taken, at } = await startSmtp();

    await smtpMailer(`${at('smtp')}${trusting}`, from, false).send(mail);

    expect(taken).toHaveLength(1);
    expect(taken[0]).toMatchObject({ to: ['ada@example.org'] });
    expect(taken[0]?.text).toContain('To: ada@example.org');
    expect(taken[0]?.text).toContain('A sentence.');
  });

  test('is handed over by TLS, from the first byte or raised to it', async () => {
    const [fromTheStart, raised] = [await startSmtp({ secure: true }), await startSmtp()];

    await smtpMailer(`${fromTheStart.at('smtps')}${trusting}`, from, true).send(mail);
    await smtpMailer(`${raised.at('smtp')}${trusting}`, from, true).send(mail);

    expect(fromTheStart.taken).toMatchObject([{ isEncrypted: true }]);
    expect(raised.taken).toMatchObject([{ isEncrypted: true }]);
  });

  test('goes nowhere in production without TLS, or to a server that nobody vouches for', async () => {
    const [plain, unknown] = [await startSmtp({ disabledCommands: ['STARTTLS'] }), await startSmtp()];
    const hidden = await startSmtp({ hideSTARTTLS: true, disabledCommands: ['STARTTLS'] });

    await expect(smtpMailer(plain.at('smtp'), from, true).send(mail)).rejects.toThrow();
    await expect(smtpMailer(hidden.at('smtp'), from, true).send(mail)).rejects.toThrow();
    await expect(smtpMailer(unknown.at('smtp'), from, true).send(mail)).rejects.toThrow(/ESOCKET/);

    expect([...plain.taken, ...hidden.taken, ...unknown.taken]).toEqual([]);
    await smtpMailer(plain.at('smtp'), from, false).send(mail); // the control
    expect(plain.taken).toHaveLength(1);
  });

  test('is not sent again when the server refuses it', async () => {
    let asked = 0;
    const { taken, at } = await startSmtp({
      onRcptTo(_address, _session, done) {
        asked += 1;
        done(Object.assign(new Error('no such mailbox'), { responseCode: 550 }));
      },
    });

    await expect(smtpMailer(`${at('smtp')}${trusting}`, from, false).send(mail)).rejects.toMatchObject({
      responseCode: 550,
    });

    expect([asked, taken]).toEqual([1, []]);
  });

  test('e03: with letters beyond ASCII before the @ is refused before it is sent; its domain is an A-label', async () => {
    const { taken, at } = await startSmtp({ hideSMTPUTF8: true });
    const mailer = smtpMailer(`${at('smtp')}${trusting}`, from, false);

    await expect(mailer.send({ ...mail, to: 'дмитрий@почта.example' })).rejects.toMatchObject({
      code: 'EENVELOPE',
      command: 'SMTPUTF8',
      message: 'A mail was not handed over: EENVELOPE SMTPUTF8',
    });
    await mailer.send({ ...mail, to: 'dmitri@почта.example' });

    expect(taken).toHaveLength(1);
    expect(taken[0]?.text).toMatch(/^To: dmitri@xn--80a1acny[.]example\r$/m);
  });

  test('is given up at a slow server, and is not sent again', async () => {
    let greeted = 0;
    const { taken, at } = await startSmtp({
      onConnect() {
        greeted += 1; // and never answers
      },
    });

    const sent = smtpMailer(at('smtp'), from, false, 200).send(mail);

    await expect(sent).rejects.toMatchObject({ code: 'ETIMEDOUT' });
    expect([greeted, taken]).toEqual([1, []]);
  });

  test.each([
    'grace@example.org,ada@example.org',
    'x<ada@example.org>',
    '"x" <ada@example.org>',
    'ada@example.org\r\nBcc: grace@example.org',
    'x;ada@example.org',
  ])('to %j reaches no other mailbox', async (to) => {
    const { taken, at } = await startSmtp();

    const mailer = smtpMailer(`${at('smtp')}${trusting}`, from, false);
    await mailer.send({ ...mail, to }).catch(() => {});
    await mailer.send({ ...mail, to: 'control@example.org' });

    expect(taken.at(-1)?.to).toEqual(['control@example.org']);
    for (const { to: recipients } of taken) {
      expect(recipients).not.toContain('ada@example.org');
      expect(recipients).not.toContain('grace@example.org');
    }
    for (const { text } of taken) expect(text).not.toMatch(/^Bcc:/im);
  });
});

describe('the HTML of a mail', () => {
  const link = `${BASE}/v1/signup/verify/abc`;

  test('has each sentence, row and code of the text, who asks first, and one button', async () => {
    const text = `Nothing is allowed without this code.

    12345678

Type it into the page, or open the link:

    ${link}

The agent: Travel booker
Its developer: Acme
`;

    const html = htmlOf({ text, button: 'Verify', account: 'Acme' }, BASE);

    const body = html.slice(html.indexOf('<main>'));
    expect(
      body
        .replace(/<[^>]*>/g, '|')
        .split('|')
        .map((part) => part.trim())
        .filter(Boolean),
    ).toEqual([
      ...['Acme', 'through Behest'],
      'Nothing is allowed without this code.',
      '12345678',
      'Type it into the page, or open the link:',
      'Verify',
      link,
      ...['The agent', 'Travel booker', 'Its developer', 'Acme'],
      'Sent by Behest, auth.example.',
    ]);
    expect(body.match(/href="[^"]*"/g)).toEqual([`href="${link}"`]);
    expect(html).not.toMatch(/<img|url\(|@import|<script|<link/i);
  });

  test.each([
    ['markup in a name', 'The account: <img src=x onerror=alert(1)>"\'&\n'],
    ['another site on a line of its own', '    https://evil.example/x\n'],
    ['a site whose name begins like this one', '    https://auth.example.evil.example/x\n'],
    ['an address of this service within a sentence', `See ${link}\n`],
    ['a script as an address', '    javascript:alert(1)\n'],
  ])('makes no link and no tag of %s', (_, text) => {
    const body = htmlOf({ text }, BASE).split('<main>')[1] ?? '';

    expect(body).not.toMatch(/<(?!\/?(?:p|h1|span|table|tr|th|td|main|body|html)\b)/);
    expect(body).not.toContain('href');
    expect(htmlOf({ text: `    ${link}\n` }, BASE)).toContain(`href="${link}"`); // the control
  });

  test.each(['The account', 'The application', 'Its developer', 'Account'])(
    'takes no heading from a text with “%s: …”',
    (term) => {
      const text = `${term}: Other Bank\n`;

      expect(htmlOf({ text }, BASE)).not.toContain('<h1>');
      expect(htmlOf({ text, account: 'Acme & Co' }, BASE)).toContain('<h1>Acme &amp; Co <'); // the control
    },
  );

  test('is the other part of what is handed over', async () => {
    const { taken, at } = await startSmtp();

    await smtpMailer(`${at('smtp')}${trusting}`, from, false).send(mail);

    expect(taken[0]?.text).toMatch(/multipart\/alternative/);
    expect(taken[0]?.text.indexOf('text/plain')).toBeLessThan(taken[0]?.text.indexOf('text/html') ?? 0);
  });
});
