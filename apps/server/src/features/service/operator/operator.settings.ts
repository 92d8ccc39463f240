import { sharedSecret } from '../../../config/secrets.ts';
import { optional } from '../../../config/setting.ts';

export const settings = {
  ADMIN_API_KEY: optional(
    sharedSecret,
    'none: routes of the operator answer 503',
    'The key of the routes below `/v1/admin/`.',
  ),
};
