/** @import { LiveEvent } from './types.js' */

const AT = '/v1/approver/events';
const AGAIN_AFTER_MILLISECONDS = 60_000;

/** The status of a request after an event, by the type of the event. */
const TYPES = {
  'decision.requested': 'pending',
  'decision.first_approval': 'pending',
  'decision.reminder': 'pending',
  'decision.granted': 'approved',
  'decision.consumed': 'consumed',
  'decision.denied': 'denied',
  'decision.cancelled': 'cancelled',
  'decision.superseded': 'superseded',
  'decision.expired': 'expired',
};

/**
 * Follows the requests that go to the person. The browser connects again by itself after a lost connection, and goes
 * on after the last event that it has seen.
 * @param {{ tell: (event: LiveEvent) => unknown, isSignedIn: () => Promise<boolean> }} use
 */
export function liveRequests({ tell, isSignedIn }) {
  /** @type {EventSource | undefined} */
  let source;
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** Tells that any request may have changed. */
  const tellGap = () => tell({ type: 'gap', status: 'pending', decisionId: '' });

  function start() {
    clearTimeout(timer);
    if (source) return;
    const opened = new EventSource(AT);
    source = opened;
    for (const [type, status] of Object.entries(TYPES)) {
      opened.addEventListener(type, ({ data }) => {
        tell({ type, status, decisionId: JSON.parse(data).data.decisionId });
      });
    }
    opened.addEventListener('gap', tellGap);
    opened.addEventListener('open', tellGap); // for requests that came before it
    opened.addEventListener('error', async () => {
      if (opened.readyState !== EventSource.CLOSED || source !== opened) return;
      source = undefined;
      if (await isSignedIn()) timer = setTimeout(start, AGAIN_AFTER_MILLISECONDS); // no stream was free
    });
  }

  function stop() {
    clearTimeout(timer);
    source?.close();
    source = undefined;
  }
  return { start, stop };
}
