import { createCaller, operatorOf } from './api/caller.ts';
import type { OperatorResources } from './api/types.gen.ts';
import { type CallingOptions, callingOf } from './client/options.ts';
import { createTransport } from './client/transport.ts';
import { BehestError } from './errors.ts';

export interface AdminOptions extends CallingOptions {
  /** The operator's key: `ADMIN_API_KEY` of the service. */
  readonly adminKey: string;
}

export interface BehestAdmin extends OperatorResources {}

/**
 * The client of a service's operator. It cannot act for an account, and an account's key opens nothing here.
 *
 * @example
 * ```ts
 * const admin = new BehestAdmin({ adminKey, baseUrl: 'https://auth.example.com' });
 * const { keys } = await admin.signingKeys.list();
 * ```
 */
// biome-ignore lint/suspicious/noUnsafeDeclarationMerging: the constructor assigns every member of `OperatorResources`
export class BehestAdmin {
  /** @throws BehestError for options that cannot be used */
  constructor({ adminKey, ...options }: AdminOptions) {
    const key = adminKey?.trim();
    if (!key || /[\r\n]/.test(key))
      throw new BehestError('CONFIGURATION', 'adminKey has to be the key of the operator, on one line.');
    const transport = createTransport(callingOf(options).transport);
    Object.assign(this, operatorOf(createCaller({ key: { apiKey: key }, transport, idempotency: true })));
  }

  /** A client in a log shows no secret. */
  toJSON(): object {
    return { name: 'BehestAdmin' };
  }

  toString(): string {
    return 'BehestAdmin';
  }
}
