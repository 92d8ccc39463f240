export interface Mail {
  readonly to: string;
  readonly subject: string;
  /** Plain text: what is sent is read by anybody's program, and holds nothing to click through. */
  readonly text: string;
}

/** Hands mail over. Whether it arrives, nobody can tell. @throws when it cannot be handed over. */
export interface Mailer {
  send(mail: Mail): Promise<void>;
}
