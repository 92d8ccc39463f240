import type { Samples } from '../../../../test/app/samples.ts';

const hold = { name: 'Case 7' };

export const samples: Samples = {
  async possess(developer) {
    const { id } = (await developer('POST', '/v1/compliance/holds', hold)).json();
    await developer('POST', `/v1/compliance/holds/${id}/release`); // other tests close their accounts
    return { holdId: String(id) };
  },
  nobodys: { holdId: 'hold_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: { 'POST /v1/compliance/holds/:id/release': { id: 'holdId' } },
  bodies: { 'POST /v1/compliance/holds': hold },
  needFullKey: [
    'GET /v1/compliance/summary',
    'GET /v1/compliance/export/grants',
    'GET /v1/compliance/export/audit',
    'GET /v1/compliance/export/principal',
    'GET /v1/compliance/evidence-pack',
    'GET /v1/compliance/holds',
    'POST /v1/compliance/holds',
    'POST /v1/compliance/holds/:id/release',
  ],
  shownAt: () => ['/v1/compliance/holds'],
};
