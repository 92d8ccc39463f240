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
