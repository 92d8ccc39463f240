import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';

export const settings = {
  COMPLIANCE_MAX_ROWS: defaulted(
    integer(1, 10_000_000),
    '100000',
    'The most rows of an export in one JSON document, and of each list in an evidence pack. The other forms have no such limit.',
  ),
};
