import { oneOf } from '../../../config/readers.ts';
import { optional, type ValuesOf } from '../../../config/setting.ts';
import type { House } from '../../../feature.ts';
import type { AuthorizationDeps } from './authorization.service.ts';

/** The consent page uses these settings too. */
export const authorizationSettings = {
  PRINCIPAL_PROOF: optional(
    oneOf('required', 'optional'),
    'in production `required`, else `optional`',
    'Whether a live developer must set up a proof of its principals before asking them for consent.',
  ),
};

/** The parts of the house that authorization uses. */
export function authorizationDeps(
  house: House,
  settings: ValuesOf<typeof authorizationSettings>,
): AuthorizationDeps {
  const byDefault = house.isProduction ? 'required' : 'optional';
  return { ...house, principalProof: settings.PRINCIPAL_PROOF ?? byDefault };
}
