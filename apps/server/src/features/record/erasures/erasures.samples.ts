import type { Samples } from '../../../../test/app/samples.ts';

const erasure = { principalId: 'nobody_we_know' };

export const samples: Samples = {
  async possess(developer) {
    const { erasureId } = (await developer('POST', '/v1/audit/erasures', erasure)).json();
    return { erasureId: String(erasureId) };
  },
  nobodys: { erasureId: 'erasure_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: { 'GET /v1/audit/erasures/:id': { id: 'erasureId' } },
  bodies: { 'POST /v1/audit/erasures': erasure },
  needFullKey: ['POST /v1/audit/erasures', 'GET /v1/audit/erasures/:id'],
};
