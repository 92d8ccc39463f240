import { createTransport } from 'nodemailer';
import { isBeyondMail, type Mail, type Mailer } from './mailer.ts';

const TIMEOUT = 10_000; // milliseconds: a person waits at a page

/**
 * @param url `smtp://` or `smtps://`, with the account in it
 * @param htmlOf makes the other form of a mail's text
 * @param mustEncrypt whether `smtp://` has to be raised to TLS (RFC 3207) before the mailer says anything
 */
export function smtpMailer(
  url: string,
  from: string,
  mustEncrypt: boolean,
  htmlOf: (mail: Mail) => string,
  timeout = TIMEOUT,
): Mailer {
  const transport = createTransport(optionsOf(url, mustEncrypt, timeout), { from });
  return {
    async send(mail) {
      const { to: address, subject, text } = mail;
      if (isBeyondMail(address)) throw withoutAnswer({ code: 'EENVELOPE', command: 'SMTPUTF8' });
      // As a text, an address with a comma or angle brackets would be read as several, or as another one.
      const sent = { subject, text, html: htmlOf(mail), to: { name: '', address } };
      await transport.sendMail(sent).catch((error: unknown) => {
        throw withoutAnswer(error);
      });
    },
  };
}

/** Connects, encrypts and signs in as the mailer does, and sends no mail. @throws Error with the code of the failure */
export async function trySmtp(url: string, mustEncrypt: boolean, timeout: number): Promise<void> {
  const transport = createTransport(optionsOf(url, mustEncrypt, timeout));
  try {
    await transport.verify();
  } catch (error) {
    throw withoutAnswer(error, 'The mail server does not let the service in');
  } finally {
    transport.close();
  }
}

const optionsOf = (url: string, mustEncrypt: boolean, timeout: number) => ({
  url,
  requireTLS: mustEncrypt && url.startsWith('smtp:'),
  connectionTimeout: timeout,
  greetingTimeout: timeout,
  socketTimeout: timeout,
});

/** The library's own text repeats the server's answer, which may hold the recipient's address. */
function withoutAnswer(error: unknown, what = 'A mail was not handed over'): Error {
  const { code, command, responseCode } = Object(error);
  const facts = [code, command, responseCode].filter((fact) => fact !== undefined).join(' ');
  return Object.assign(new Error(`${what}: ${facts}`), { code, command, responseCode });
}
