import { boolean, oneOf } from '../../../config/readers.ts';
import { defaulted, optional, type ValuesOf } from '../../../config/setting.ts';
import type { ServiceContext } from '../../../feature.ts';
import { definePart } from '../../../platform/parts.ts';
import type { EphemeralStore } from '../../../platform/redis/ephemeral-store.ts';
import type { DecideDeps } from '../policies/index.ts';
import { decisionPoint } from '../policies/index.ts';
import type { Lifetimes } from './authorization.rules.ts';

export interface AuthorizationDeps extends DecideDeps {
  readonly store: EphemeralStore;
  readonly lifetimes: Lifetimes;
  /** Without a trailing slash. */
  readonly publicBaseUrl: string;
  /** Whether a live developer must set up a proof of its principals before it may ask them for consent. */
  readonly principalProof: 'required' | 'optional';
  /** Whether consent links name the developer's verified domain. */
  readonly linksToDomains: boolean;
}

export const authorizationSettings = {
  PRINCIPAL_PROOF: optional(
    oneOf('required', 'optional'),
    'in production `required`, else `optional`',
    'Whether a live developer must set up a proof of its principals before asking them for consent.',
  ),
  CUSTOM_DOMAIN_PAGES: defaulted(
    boolean,
    'false',
    'Whether consent links name the verified domain of the developer, whose traffic has to reach the service then.',
  ),
};

/** The parts of the process with which requests are made, shown and decided. */
export const authorizationParts = definePart<AuthorizationDeps>('the parts of authorization');

export function authorizationDeps(
  context: ServiceContext,
  settings: ValuesOf<typeof authorizationSettings>,
): AuthorizationDeps {
  const byDefault = context.isProduction ? 'required' : 'optional';
  return {
    ...context,
    principalProof: settings.PRINCIPAL_PROOF ?? byDefault,
    outside: context.take(decisionPoint),
    linksToDomains: settings.CUSTOM_DOMAIN_PAGES,
  };
}
