import { boolean } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';
import { definePart } from '../../../platform/parts.ts';

/** Whether identity assertions (ID-JAG) are accepted. */
export const assertionsEnabled = definePart<boolean>('whether identity assertions are accepted');

export const assertionSettings = {
  ID_JAG_ENABLED: defaulted(
    boolean,
    'true',
    'Whether identity providers that a developer trusts may give tokens without a consent page (ID-JAG).',
  ),
};
