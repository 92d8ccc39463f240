import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';

export const settings = {
  SSF_MAX_ATTEMPTS: defaulted(
    integer(1, 20),
    '10',
    'The most attempts to push one signal to a receiver. The signal fails after the last attempt.',
  ),
};
