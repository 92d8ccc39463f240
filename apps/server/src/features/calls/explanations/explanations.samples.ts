import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer, { grantToken }) {
    await developer('POST', '/v1/enforce', { grantToken, connector: 'nobodys', tool: 'lookup' });
    const { entries } = (await developer('GET', '/v1/audit/entries?action=tool.enforce&order=desc')).json();
    return { answerId: String(entries[0].entryId) };
  },
  nobodys: { answerId: 'alog_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: { 'GET /v1/audit/:id/explanation': { id: 'answerId' } },
  needFullKey: ['GET /v1/audit/:id/explanation'],
};
