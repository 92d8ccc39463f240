/** The error that every error of Behest's libraries is one of. Its message holds no token and no key. */
export class BehestError extends Error {
  override readonly name: string = 'BehestError';
  readonly code: string;

  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
