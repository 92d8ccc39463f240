import type { Samples } from '../../../../test/app/samples.ts';

/** The key of RFC 7515, appendix A.3. */
const publicKey = {
  kty: 'EC',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
};
const registration = { name: 'gateway', publicKey };

export const samples: Samples = {
  async possess(developer) {
    const { verifierId } = (await developer('POST', '/v1/verifiers', registration)).json();
    return { verifierId: String(verifierId) };
  },
  nobodys: { verifierId: 'vrf_01K9Z3QW5M8T2V4X6Y7Z8A9B0C' },
  ways: { 'PUT /v1/verifiers/:id/lease': { id: 'verifierId', body: () => ({}) } },
  bodies: { 'POST /v1/verifiers': registration },
};
