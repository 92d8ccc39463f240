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
