import type { Samples } from '../../../../test/app/samples.ts';

const question = {
  subject: { type: 'grant', id: 'grnt_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  action: { name: 'send_mail' },
  resource: { type: 'connector', id: 'acme_mail' },
};

export const samples: Samples = {
  bodies: { 'POST /access/v1/evaluation': question, 'POST /access/v1/evaluations': question },
};
