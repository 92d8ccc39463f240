import { boolean, oneOf } from '../../../config/readers.ts';
import { defaulted, optional, type ValuesOf } from '../../../config/setting.ts';
import type { House } from '../../../feature.ts';
import { definePart } from '../../../platform/parts.ts';
import { decisionPoint } from '../policies/index.ts';
import { type AuthorizationDeps, signOnRules } from './deps.ts';

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
  house: House,
  settings: ValuesOf<typeof authorizationSettings>,
): AuthorizationDeps {
  const [signOn] = house.listenersOf(signOnRules);
  if (!signOn) throw new Error('No feature has the rules of single sign-on.');
  const byDefault = house.isProduction ? 'required' : 'optional';
  return {
    ...house,
    signOn,
    principalProof: settings.PRINCIPAL_PROOF ?? byDefault,
    outside: house.take(decisionPoint),
    linksToDomains: settings.CUSTOM_DOMAIN_PAGES,
  };
}
