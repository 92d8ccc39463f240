import type { Tracer } from '../telemetry/tracer.ts';

export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text, because any program may read it. */
  readonly text: string;
}

/** Hands mail over. Nobody can tell whether it arrives. @throws when it cannot be handed over */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}

/** Whether an address needs SMTPUTF8 (RFC 6531), without which its letters before the `@` would be sent raw. */
export const isBeyondMail = (address: string): boolean =>
  !/^\p{ASCII}*$/u.test(address.slice(0, Math.max(address.lastIndexOf('@'), 0)));

const KEPT = 20;

/** Sends nothing: keeps the last mails, for the developer at this machine to read. */
export interface DevelopmentMailer extends Mailer {
  /** Newest first. */
  sent(): readonly Mail[];
}

/** @param print receives each mail, for the log */
export function developmentMailer(print: (mail: Mail) => void): DevelopmentMailer {
  const mails: Mail[] = [];
  return {
    async send(mail) {
      mails.unshift(mail);
      mails.length = Math.min(mails.length, KEPT);
      print(mail);
    },
    sent: () => mails,
  };
}

export interface MailSettings {
  readonly isProduction: boolean;
  readonly mail: { readonly url: string; readonly from: string } | undefined;
}

export interface OpenedMailer {
  /** Undefined when mail cannot be sent. */
  readonly mailer?: Mailer;
  /** The same mailer, when it keeps mail for a look instead of sending it. */
  readonly development?: DevelopmentMailer;
}

/** @param print receives each mail that is kept instead of sent */
export async function openMailer(
  { isProduction, mail }: MailSettings,
  print: (mail: Mail) => void,
  tracer?: Tracer,
): Promise<OpenedMailer> {
  if (mail) {
    const { smtpMailer } = await import('./smtp-mailer.ts'); // loaded only to send, since loading is slow
    const mailer = smtpMailer(mail.url, mail.from, isProduction);
    return { mailer: tracer ? tracedMailer(mailer, tracer) : mailer };
  }
  if (isProduction) return {};
  const development = developmentMailer(print);
  return { mailer: development, development };
}

/** Makes a span for each mail, without its recipient and its text. */
function tracedMailer(mailer: Mailer, tracer: Tracer): Mailer {
  const call = { name: 'smtp send', attributes: { 'network.protocol.name': 'smtp' } };
  return { send: (mail) => tracer.call(call, () => mailer.send(mail)) };
}
