/** @import { Problem } from '../../../../platform/page/types.js' */
/** @import { approveApi } from './approve-api.js' */
/** @import { Notifications } from './types.js' */
import { serviceTime } from '../../../../platform/page/call.js';
import { button, element, paragraph, setContent } from '../../../../platform/page/dom.js';
import { fill, moment } from '../../../../platform/page/format.js';
import { clause, note } from '../../../../platform/page/parts.js';
import { words } from './approve-words.js';

const WORKER = '/approve/approve-worker.js';
const SCOPE = '/approve/';
const MOST = 5;

/** @type {{ createScriptURL(url: string): string } | undefined} */
let policy;

/** The page may name one script as a worker, by a policy that it makes once. Some browsers have no such policies. */
function workerAddress() {
  const { trustedTypes } = /** @type {{ trustedTypes?: any }} the checker does not know it */ (window);
  policy ??= trustedTypes?.createPolicy('approve-worker', {
    /** @param {string} url */
    createScriptURL(url) {
      if (url !== WORKER) throw new TypeError('This page has one worker.');
      return url;
    },
  });
  return policy?.createScriptURL(WORKER) ?? WORKER;
}

const isAble = () => 'serviceWorker' in navigator && 'PushManager' in window && 'Notification' in window;

/**
 * Turns notifications on and off, in this browser and in the person's others.
 * @param {Notifications} of
 * @param {{
 *   api: ReturnType<typeof approveApi>,
 *   reload: () => unknown,
 *   fail: (problem: Problem, outcome: HTMLElement) => unknown,
 * }} use
 */
export function renderNotifications({ publicKey, subscriptions }, { api, reload, fail }) {
  const outcome = element('div', { role: 'status' });
  const region = element('div', {});
  showState();
  return clause(words.notify, element('div', {}, paragraph(words.notifyLead), region, outcome));

  async function showState() {
    const own = isAble() ? await subscriptionHere() : undefined;
    const hash = own && (await sha256(own.endpoint));
    const here = subscriptions.find(
      ({ endpointSha256, vapidKey }) =>
        endpointSha256 === hash && vapidKey === publicKey && isFor(own, publicKey),
    );
    const others = subscriptions.filter((each) => each !== here).map(renderOther);
    setContent(region, [
      others.length > 0 && element('ul', { class: 'requests' }, others),
      here ? buttons(words.turnOff, () => end(here.id, own)) : renderOff(),
    ]);
  }

  function renderOff() {
    if (!isAble()) return paragraph(words.notifyUnable);
    if (Notification.permission === 'denied') return paragraph(words.notifyBlocked);
    if (subscriptions.length >= MOST) return paragraph(words.notifyFull);
    return buttons(words.turnOn, begin);
  }

  /** @param {Notifications['subscriptions'][number]} other */
  function renderOther({ id, createdAt }) {
    const time = moment(new Date(createdAt), serviceTime());
    const told = element('span', { id: `browser-${id}` }, fill(words.notifyElsewhere, { time }));
    const turnOff = button(words.turnOffThere, () => end(id), { 'aria-describedby': told.id });
    return element('li', {}, told, ' ', turnOff);
  }

  async function begin() {
    if ((await Notification.requestPermission()) !== 'granted') return tell(words.notifyBlocked);
    const made = await subscribe(publicKey).catch(() => undefined);
    if (!made) return tell(words.notifyFailed);
    let answer = await api.turnOn(made.toJSON());
    if (!answer.ok && answer.problem.kind === 'otherApprover') {
      // The browser was that of another person, whose messages end here with the subscription.
      await made.unsubscribe();
      const renewed = await subscribe(publicKey).catch(() => undefined);
      if (!renewed) return tell(words.notifyFailed);
      answer = await api.turnOn(renewed.toJSON());
    }
    if (answer.ok) reload();
    else fail(answer.problem, outcome);
  }

  /**
   * @param {string} id
   * @param {PushSubscription} [own] where it is this browser's
   */
  async function end(id, own) {
    const answer = await api.turnOff(id);
    if (!answer.ok && answer.problem.kind !== 'unknown') return fail(answer.problem, outcome);
    await own?.unsubscribe();
    reload();
  }

  /** @param {string} text */
  function tell(text) {
    setContent(outcome, note(words.trouble, text));
  }
}

/**
 * @param {string} label
 * @param {() => unknown} act
 */
const buttons = (label, act) => element('div', { class: 'buttons' }, button(label, act));

async function subscriptionHere() {
  const registration = await navigator.serviceWorker.getRegistration(SCOPE);
  return (await registration?.pushManager.getSubscription()) ?? undefined;
}

/**
 * Subscribes this browser for messages that the service signs with this key.
 * @param {string} publicKey
 */
async function subscribe(publicKey) {
  const options = { scope: SCOPE };
  const registration = await navigator.serviceWorker.register(workerAddress(), options);
  await activated(registration);
  const former = await registration.pushManager.getSubscription();
  if (former && !isFor(former, publicKey)) await former.unsubscribe();
  return registration.pushManager.subscribe({ userVisibleOnly: true, applicationServerKey: publicKey });
}

/** @param {ServiceWorkerRegistration} registration */
async function activated({ active, installing, waiting }) {
  const worker = installing ?? waiting;
  if (active || !worker) return;
  await new Promise((resolve) => {
    worker.addEventListener('statechange', () => worker.state === 'activated' && resolve(undefined));
  });
}

/**
 * @param {PushSubscription | undefined} subscription
 * @param {string} publicKey
 */
const isFor = (subscription, publicKey) => {
  const key = subscription?.options.applicationServerKey;
  return key instanceof ArrayBuffer && base64url(key) === publicKey;
};

/** @param {string} text */
const sha256 = async (text) =>
  base64url(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)));

/** @param {ArrayBuffer} bytes */
const base64url = (bytes) =>
  btoa(String.fromCharCode(...new Uint8Array(bytes)))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
