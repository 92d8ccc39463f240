import { authenticator } from '../../../../test/app/authenticator.ts';
import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer) {
    const body = { email: `${crypto.randomUUID()}@example.org`, displayName: 'Ada of the samples' };
    const { approverId, link } = (await developer('POST', '/v1/approvers', body)).json();
    const invite = String(link).split('#invite=')[1];
    const { challengeId, publicKey } = (
      await developer('POST', '/v1/approver/enrol/options', { invite })
    ).json();
    const response = authenticator().create(publicKey);
    await developer('POST', '/v1/approver/enrol/verify', { invite, challengeId, response });
    return { approverId: String(approverId) };
  },
  nobodys: { approverId: 'apv_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'PATCH /v1/approvers/:id': { id: 'approverId', body: () => ({ groups: ['finance'] }) },
    'DELETE /v1/approvers/:id': { id: 'approverId' },
    'PUT /v1/approvers/:id/absence': {
      id: 'approverId',
      body: () => ({ from: '2026-01-01T00:00:00Z', until: '2026-03-01T00:00:00Z' }),
    },
    'DELETE /v1/approvers/:id/absence': { id: 'approverId' },
  },
  bodies: { 'POST /v1/approvers': { email: 'bob@example.org', displayName: 'Bob' } },
  needFullKey: [
    'POST /v1/approvers',
    'GET /v1/approvers',
    'PATCH /v1/approvers/:id',
    'DELETE /v1/approvers/:id',
    'PUT /v1/approvers/:id/absence',
    'DELETE /v1/approvers/:id/absence',
  ],
  shownAt: () => ['/v1/approvers'],
};
