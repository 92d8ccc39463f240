import { act, type DataOf } from '../../../platform/acts.ts';

export const acts = {
  'principal.session_created': act<{ readonly sessionId: string }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}
