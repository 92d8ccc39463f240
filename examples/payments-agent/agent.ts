import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Behest } from '@behest/sdk';

const manifest: object = JSON.parse(readFileSync(join(import.meta.dirname, 'manifest.json'), 'utf8'));

/** A payment, as a model asks for it. */
export interface Payment {
  readonly to: string;
  /** With a decimal point: `12.50`. A number would be rounded. */
  readonly amount: string;
  readonly currency: string;
}

/** What this grant is for, and how much: narrower than the manifest, which holds for all grants. */
export const limits = {
  scopes: ['tool:bank:write'],
  purpose: 'payments.payout',
  authorizationDetails: [
    {
      type: 'urn:service:tools:v1' as const,
      connector: 'bank',
      tools: ['pay'],
      caps: { pay: { per_day: 2 } },
      arguments: { pay: { '/to': {}, '/amount': { max: '500', type: 'decimal' as const }, '/currency': {} } },
    },
  ],
};

/**
 * Gives an agent the tool that pays. The agent cannot widen what the person agreed to.
 *
 * @param transfer moves the money
 * @throws BehestDeniedError from the tool, with `reasonCode` and `details`
 */
export function paymentTool(
  behest: Behest,
  grantToken: () => Promise<string>,
  transfer: (payment: Payment) => Promise<string>,
): (payment: Payment) => Promise<string> {
  behest.loadManifest(manifest);
  return behest.wrapTool(transfer, { connector: 'bank', tool: 'pay', grantToken });
}
