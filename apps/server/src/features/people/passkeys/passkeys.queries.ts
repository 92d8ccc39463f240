import { principalsIn } from '../../../platform/db/folded-ids.ts';

/** The principals of passkeys who have one of these ids, in any case. */
export const principalsWithPasskeys = principalsIn('passkeys');
