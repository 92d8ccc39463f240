import type { Tracer } from '../telemetry/tracer.ts';
import { type DevelopmentMailer, developmentMailer } from './development-mailer.ts';
import type { Mail, Mailer } from './mailer.ts';

export interface MailSettings {
  readonly isProduction: boolean;
  readonly mail: { readonly url: string; readonly from: string } | undefined;
}

export interface OpenedMailer {
  /** Undefined where mail cannot be sent. */
  readonly mailer?: Mailer;
  /** The same, where mails are kept to be looked at instead of being sent. */
  readonly development?: DevelopmentMailer;
}

/** @param print told of each mail that is kept instead of being sent. */
export async function openMailer(
  { isProduction, mail }: MailSettings,
  print: (mail: Mail) => void,
  tracer?: Tracer,
): Promise<OpenedMailer> {
  if (mail) {
    const { smtpMailer } = await import('./smtp-mailer.ts'); // loaded where mail is sent, for loading it takes its time
    const mailer = smtpMailer(mail.url, mail.from, isProduction);
    return { mailer: tracer ? tracedMailer(mailer, tracer) : mailer };
  }
  if (isProduction) return {};
  const development = developmentMailer(print);
  return { mailer: development, development };
}

/** A span for each mail handed over; whom it is to and what it says are in none. */
function tracedMailer(mailer: Mailer, tracer: Tracer): Mailer {
  const call = { name: 'smtp send', attributes: { 'network.protocol.name': 'smtp' } };
  return { send: (mail) => tracer.call(call, () => mailer.send(mail)) };
}
