/** @import { Answer, Problem, Refusal } from '../../../../platform/page/types.js' */
/** @import { Setup, Tried } from './types.js' */
import { call } from '../../../../platform/page/call.js';

const KEPT = 'setup';
const STEPS = 'setup-steps';

/** The session of this tab, which a reload keeps and another tab does not have. */
export function setupApi() {
  let session = sessionStorage.getItem(KEPT) ?? '';

  /** @type {(step: string, body?: object) => Promise<Answer<any>>} */
  const ask = (step, body = {}) => call(`/setup/${step}`, { body: { session, ...body }, read });

  return {
    isOpen: () => session !== '',
    /** The steps that were done in this tab. */
    done: () => new Set((sessionStorage.getItem(STEPS) ?? '').split(' ')),
    /** @param {'sso' | 'scim'} step @param {boolean} isDone */
    keepStep(step, isDone) {
      const done = this.done();
      if (isDone) done.add(step);
      else done.delete(step);
      sessionStorage.setItem(STEPS, [...done].join(' '));
    },
    /** @type {(link: string) => Promise<Answer<Setup>>} */
    async open(link) {
      const answer = await call('/setup/open', { body: { link }, read });
      if (!answer.ok) return answer;
      session = answer.body.session;
      sessionStorage.setItem(KEPT, session);
      sessionStorage.removeItem(STEPS);
      return { ok: true, body: answer.body.setup };
    },
    /** @type {() => Promise<Answer<Setup>>} */
    read: () => ask('read'),
    /** @type {(provider: object) => Promise<Answer<Setup>>} */
    save: (provider) => ask('provider', provider),
    /** @type {() => Promise<Answer<Tried>>} */
    test: () => ask('test'),
    /** @type {() => Promise<Answer<{ token: string }>>} */
    token: () => ask('token'),
    async finish() {
      const answer = await ask('finish');
      if (answer.ok) for (const kept of [KEPT, STEPS]) sessionStorage.removeItem(kept);
      return answer;
    },
  };
}

/** @type {(refusal: Refusal) => Problem} */
function read({ status, message = '', requestId: reference = '' }) {
  return status === 404 ? { kind: 'unknown' } : { kind: 'refused', message, reference };
}
