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
      await transport.sendMail({ ...mail, to: { name: '', address } });
    },
  };
}
