import { createTransport } from 'nodemailer';
import type { Mailer } from './mailer.ts';

const TIMEOUT = 10_000; // milliseconds: a person waits at a page

/**
 * @param url `smtp://` or `smtps://`, with the account in it
 * @param mustEncrypt whether `smtp://` has to be raised to TLS (RFC 3207) before the mailer says anything
 */
export function smtpMailer(url: string, from: string, mustEncrypt: boolean, timeout = TIMEOUT): Mailer {
  const transport = createTransport(
    {
      url,
      requireTLS: mustEncrypt && url.startsWith('smtp:'),
      connectionTimeout: timeout,
      greetingTimeout: timeout,
      socketTimeout: timeout,
    },
    { from },
  );
  return {
    async send({ to: address, ...mail }) {
      // As a text, an address with a comma or angle brackets would be read as several, or as another one.
      await transport.sendMail({ ...mail, to: { name: '', address } }).catch((error: unknown) => {
        throw withoutAnswer(error);
      });
    },
  };
}

/** The library's own text repeats the server's answer, which may hold the recipient's address. */
function withoutAnswer(error: unknown): Error {
  const { code, command, responseCode } = Object(error);
  const facts = [code, command, responseCode].filter((fact) => fact !== undefined).join(' ');
  return Object.assign(new Error(`A mail was not handed over: ${facts}`), { code, command, responseCode });
}
