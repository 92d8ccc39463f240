import { boolean } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { definePart } from '../../../platform/parts.ts';

/** Whether what the service signs also has the claims that older clients read. */
export const legacyClaims = definePart<boolean>('whether tokens have the claims of before 0.6');

/** Settings of everything that signs claims which older clients read. */
export const legacySettings = {
  GRANT_TOKEN_LEGACY_CLAIMS: defaulted(
    boolean,
    'true',
    'Whether new grant tokens also carry the claim names used before 0.6, and W3C credentials the member `vc`.',
  ),
};
