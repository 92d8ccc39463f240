import type { Samples } from '../../../../test/app/samples.ts';

export const samples: Samples = {
  async possess(developer) {
    const body = { resource: `http://localhost/${crypto.randomUUID()}`, name: 'Calendar server' };
    const { id } = (await developer('POST', '/v1/resources', body)).json();
    return { resourceId: String(id) };
  },
  nobodys: { resourceId: 'res_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: {
    'GET /v1/resources/:id': { id: 'resourceId' },
    'PATCH /v1/resources/:id': { id: 'resourceId', body: () => ({ name: 'Renamed' }) },
    'DELETE /v1/resources/:id': { id: 'resourceId' },
  },
  bodies: {
    /** No two developers register one URI, so each use has another. */
    get 'POST /v1/resources'() {
      return { resource: `http://localhost/${crypto.randomUUID()}`, name: 'Calendar server' };
    },
    'PATCH /v1/resources/:id': { name: 'Renamed' },
  },
  needFullKey: [
    'POST /v1/resources',
    'GET /v1/resources',
    'GET /v1/resources/:id',
    'PATCH /v1/resources/:id',
    'DELETE /v1/resources/:id',
  ],
  shownAt: ({ resourceId }) => ['/v1/resources', `/v1/resources/${resourceId}`],
};
