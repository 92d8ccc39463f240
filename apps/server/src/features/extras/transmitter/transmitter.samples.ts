import type { Samples } from '../../../../test/app/samples.ts';

const receiver = { name: 'SIEM', staticToken: true };

export const samples: Samples = {
  async possess(developer) {
    const made = (await developer('POST', '/v1/ssf/receivers', receiver)).json();
    const stream = (await developer.withToken(made.accessToken)('POST', '/ssf/streams', {})).json();
    const { receiverId: ssfReceiverId, accessToken: ssfToken } = made;
    return { ssfReceiverId, ssfToken, ssfStreamId: stream.stream_id };
  },
  nobodys: {
    ssfReceiverId: 'ssfr_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
    ssfToken: 'bh_ssf_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
    ssfStreamId: 'ssfs_01K9Z3QW5M8T2V4X6Y7Z8A9B0C',
  },
  ways: {
    'GET /v1/ssf/receivers/:id': { id: 'ssfReceiverId' },
    'PATCH /v1/ssf/receivers/:id': { id: 'ssfReceiverId', body: () => ({ name: 'Taken over' }) },
    'POST /v1/ssf/receivers/:id/rotate-secret': { id: 'ssfReceiverId' },
    'DELETE /v1/ssf/receivers/:id': { id: 'ssfReceiverId' },
    'GET /v1/ssf/receivers/:id/streams': { id: 'ssfReceiverId' },
    'GET /v1/ssf/receivers/:id/deliveries': { id: 'ssfReceiverId' },
  },
  bodies: { 'POST /v1/ssf/receivers': { name: 'SIEM' } },
  needFullKey: [
    'POST /v1/ssf/receivers',
    'PATCH /v1/ssf/receivers/:id',
    'POST /v1/ssf/receivers/:id/rotate-secret',
    'DELETE /v1/ssf/receivers/:id',
  ],
  shownAt: ({ ssfReceiverId }) => [
    '/v1/ssf/receivers',
    `/v1/ssf/receivers/${ssfReceiverId}/streams`,
    `/v1/ssf/receivers/${ssfReceiverId}/deliveries`,
  ],
};
