import type { Tracer } from '../telemetry/tracer.ts';
import { type DevelopmentMailer, developmentMailer } from './development-mailer.ts';
import type { Mail, Mailer } from './mailer.ts';

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
