import { boolean } from '../../../config/readers.ts';
import { defaulted } from '../../../config/setting.ts';

export const settings = {
  DID_RESOLVE_WEB: defaulted(
    boolean,
    'false',
    'Whether `GET /v1/dids/:id` fetches the documents of other hosts’ `did:web`. Anybody may call that route.',
  ),
};
