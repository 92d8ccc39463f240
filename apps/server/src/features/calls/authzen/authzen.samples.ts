import type { Samples } from '../../../../test/app/samples.ts';

/** A question about a grant, on the manifest of the samples. */
const way = {
  body: ({ grantId }: { readonly grantId?: string }) => ({
    subject: { type: 'grant', id: grantId },
    action: { name: 'send_mail' },
    resource: { type: 'connector', id: 'acme_mail' },
    context: { call_id: 'call-of-the-samples' },
  }),
};

export const samples: Samples = {
  ways: { 'POST /access/v1/evaluation': way, 'POST /access/v1/evaluations': way },
};
