/** @import { Branding, Child } from './types.js' */
import { button, element, name, setContent } from './dom.js';
import { words } from './words.js';

const page = document.getElementById('page') ?? document.body;

/** A screen reader reads out its text. */
export const announcer = element('p', { id: 'announcer', role: 'status' });
page.after(announcer);

export const isFramed = () => window.top !== window.self;

/**
 * Puts the account that asks at the head of the page, in place of this service.
 * @param {string} account
 * @param {Branding} [branding]
 */
export function showBrand(account, { logoUrl, accentColor } = {}) {
  const masthead = document.querySelector('.masthead');
  if (!masthead) return;
  const logo = logoUrl && isOwnPath(logoUrl) && element('img', { src: logoUrl, alt: '' });
  setContent(masthead, logo, name(account));
  if (accentColor) document.documentElement.style.setProperty('--fill', accentColor);
}

/** @param {string} address */
const isOwnPath = (address) => new URL(address, location.href).origin === location.origin;

/** A decision or a sign-in may lead to these kinds of address. The service enforces the same rule. */
const SAFE_TARGET =
  /^(?:https:|[a-z][a-z0-9+-]*\.[a-z0-9.+-]*:|http:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d+)?[/?]|(?!(?:https?|wss?|ftp|file|blob|data|javascript|vbscript|view-source|intent):)[a-z][a-z0-9+-]*:\/\/[a-z0-9])/i;

/** @param {string} address */
export const isSafeTarget = (address) => SAFE_TARGET.test(address);

/** Takes the key out of the address, which people copy and photograph, and which browsers keep. */
export function takeFragment() {
  const fragment = new URLSearchParams(location.hash.slice(1));
  if (location.hash !== '') history.replaceState(null, '', location.pathname + location.search);
  return fragment;
}

/**
 * @param {HTMLElement} content
 * @param {HTMLElement} heading gets the focus, and names the window
 */
export function show(content, heading) {
  setContent(page, content);
  document.title = `${heading.textContent} – Behest`;
  heading.focus();
}

/**
 * @param {string} title
 * @param {...Child} content
 */
export function showArticle(title, ...content) {
  const heading = element('h1', { tabindex: '-1' }, title);
  show(element('article', {}, heading, content), heading);
}

/**
 * @template Result
 * @param {string} text
 * @param {Promise<Result>} work
 */
export async function showLoading(text, work) {
  setContent(page, element('h1', { class: 'loading' }, text));
  page.setAttribute('aria-busy', 'true');
  const result = await work;
  page.setAttribute('aria-busy', 'false');
  return result;
}

/**
 * @param {() => void} act
 * @param {number} [seconds] to wait before a try makes sense
 */
export function tryAgain(act, seconds = 0) {
  const again = button(words.tryAgain, () => again.ariaDisabled !== 'true' && act());
  if (seconds === 0) return again;
  again.ariaDisabled = 'true';
  setTimeout(() => {
    again.ariaDisabled = 'false';
    if (again.isConnected) setContent(announcer, words.canTryAgain);
  }, seconds * 1000);
  return again;
}
