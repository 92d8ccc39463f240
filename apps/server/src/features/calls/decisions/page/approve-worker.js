/** @import { WorkerScope } from './types.js' */
/** A script of its own, which the browser starts for each message, also while no page is open. It asks for nothing. */
const scope = /** @type {WorkerScope} */ (/** @type {unknown} */ (self));

const ANY = { title: 'A call waits for your decision', body: '', url: '/approve' };

scope.addEventListener('push', (event) => {
  const { title, body, url } = readMessage(event.data);
  // A later message about the same call takes the place of the earlier one.
  event.waitUntil(scope.registration.showNotification(title, { body, tag: url, data: url }));
});

scope.addEventListener('notificationclick', (event) => {
  const { notification } = event;
  notification.close();
  event.waitUntil(scope.clients.openWindow(ownAddress(notification.data)));
});

/** @param {{ json(): unknown } | null} data */
function readMessage(data) {
  try {
    const { title, body, url } = Object(data?.json());
    return title ? { title: String(title), body: String(body ?? ''), url: ownAddress(url) } : ANY;
  } catch {
    return ANY;
  }
}

/**
 * A notification leads to the page of decisions and nowhere else.
 * @param {unknown} address
 */
function ownAddress(address) {
  const { origin } = scope.location;
  const url = new URL(String(address), origin);
  return url.origin === origin && url.pathname === ANY.url ? url.href : ANY.url;
}
