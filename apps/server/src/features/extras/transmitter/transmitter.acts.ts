import { act, type DataOf } from '../../../platform/acts.ts';

interface OfReceiver {
  readonly receiverId: string;
}

interface OfStream extends OfReceiver {
  readonly streamId: string;
}

export const acts = {
  'ssf.receiver.created': act<OfReceiver & { readonly audience: string }>(),
  'ssf.receiver.updated': act<OfReceiver & { readonly changed: readonly string[] }>(),
  'ssf.receiver.deleted': act<OfReceiver>(),
  'ssf.stream.created': act<OfStream & { readonly method: string }>(),
  'ssf.stream.updated': act<OfStream & { readonly changed: readonly string[]; readonly status: string }>(),
  'ssf.stream.deleted': act<OfStream>(),
  'ssf.stream.paused': act<OfStream & { readonly reason: string }>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
}
