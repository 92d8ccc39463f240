import { integer } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';

export const settings = {
  DECISION_STEP_UP_SECONDS: defaulted(
    integer(60, 86_400),
    '3600',
    'How long after the last use of their passkey an approver may still decide. Afterwards the page asks for the passkey once more, to sign in.',
  ),
};
