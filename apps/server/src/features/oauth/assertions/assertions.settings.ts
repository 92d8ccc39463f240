import { boolean } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { ssoSettings } from '../../people/sso/index.ts';

export const assertionSettings = {
  ...ssoSettings,
  ID_JAG_ENABLED: defaulted(
    boolean,
    'true',
    'Whether identity providers that a developer trusts may give tokens without a consent page (ID-JAG).',
  ),
};
