import type { Mail, Mailer } from './mailer.ts';

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
