import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';

export const passportSettings = {
  MPP_PASSPORT_MAX_EXPIRY_HOURS: defaulted(
    integer(1, 8_760),
    '720',
    'The longest life of an agent passport, in hours.',
  ),
};
