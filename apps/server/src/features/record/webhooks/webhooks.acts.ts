import { act, announcement, type DataOf } from '../../../platform/acts.ts';

interface OfWebhook {
  readonly webhookId: string;
}

export const acts = {
  'webhook.created': act<OfWebhook & { readonly events: readonly string[] }>(),
  'webhook.updated': act<OfWebhook & { readonly changed: readonly string[] }>(),
  'webhook.disabled': act<OfWebhook & { readonly reason: 'gone' }>(),
  'webhook.deleted': act<OfWebhook>(),
};

export const announcements = {
  'webhook.test': announcement<OfWebhook>(),
};

declare module '../../../platform/acts.ts' {
  interface Acts extends DataOf<typeof acts> {}
  interface Announcements extends DataOf<typeof announcements> {}
}
