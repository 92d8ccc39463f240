import type { Samples } from '../../../../test/app/samples.ts';

const ada = { displayName: 'Ada of the samples', email: 'ada@example.org' };

export const samples: Samples = {
  async possess(developer) {
    const { member } = (await developer('POST', '/v1/console/session/key', ada)).json();
    return { memberId: String(member.memberId) };
  },
  bodies: { 'POST /v1/console/session/key': ada, 'POST /v1/console/session/links': ada },
  needFullKey: ['POST /v1/console/session/key', 'POST /v1/console/session/links'],
};
