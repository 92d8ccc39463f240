/** @import { ReceiptTrust } from '@behest/protocol/receipts/verify' */
import { verifyReceiptWith } from '@behest/protocol/receipts/verify';
import { ed25519 } from '@noble/curves/ed25519.js';
import { sha256 } from '@noble/hashes/sha2.js';
import { button, element, literal, paragraph, setContent } from '../../../../platform/page/dom.js';
import { chosenLanguage, languages, setLanguage, words } from './verify-language.js';
import { keysCard, verdictParts } from './verify-parts.js';

/** @type {import('@behest/protocol/receipts/consent-proof').ProofMeans} */
const means = {
  sha256,
  verifyEd25519(publicKey, message, signature) {
    try {
      return ed25519.verify(signature, message, publicKey, { zip215: false });
    } catch {
      return false; // a key that is no point of the curve
    }
  },
  async verifySignature({ alg, key, signed, signature }) {
    const algorithm =
      alg === 'RS256'
        ? { name: 'RSASSA-PKCS1-v1_5', hash: 'SHA-256' }
        : { name: 'ECDSA', hash: 'SHA-256', namedCurve: 'P-256' };
    const jwk = /** @type {JsonWebKey} */ (key);
    const imported = await crypto.subtle.importKey('jwk', jwk, algorithm, false, ['verify']);
    return crypto.subtle.verify(algorithm, imported, signature, signed);
  },
};

const page = /** @type {HTMLElement} */ (document.getElementById('page'));
/** The text of the receipt. */
let receipt = document.getElementById('receipt')?.textContent?.trim() ?? '';
/** @type {ReceiptTrust} */
let keys = {};

/** Shows the start, or the receipt as it stands. */
async function show() {
  const say = words();
  document.documentElement.lang = chosenLanguage();
  document.title = say.title;
  if (receipt === '') {
    setContent(
      page,
      heading(say.title),
      paragraph(say.lead),
      chooser(say.choose),
      paragraph(say.drop),
      choice(),
    );
    return;
  }
  setContent(page, heading(say.checking));
  try {
    const verdict = await verifyReceiptWith(receipt, { ...keys, now: new Date() }, means);
    const card = verdict.receipt && keysCard(verdict, means, useKeys);
    setContent(page, verdictParts(verdict, card), chooser(say.another), choice());
  } catch (error) {
    const { heading: title, lead } = say.broken; // a browser that lacks something: a reader must not wait for ever
    setContent(page, heading(title), paragraph(lead), paragraph(literal(String(error))), choice());
  }
  page.querySelector('h1')?.focus();
}

/** @param {string} text */
const heading = (text) => element('h1', { tabindex: '-1' }, text);

/** @param {string} label */
function chooser(label) {
  const input = element('input', {
    type: 'file',
    hidden: true,
    accept: '.json,.html,application/json,text/html',
  });
  input.addEventListener('change', () => void take(input.files));
  return element(
    'div',
    { class: 'buttons' },
    input,
    button(label, () => input.click(), { class: 'strong' }),
  );
}

function choice() {
  const options = Object.entries(languages).map(([tag, name]) =>
    element('option', { value: tag, lang: tag, selected: tag === chosenLanguage() }, name),
  );
  const select = element('select', { id: 'language' }, options);
  select.addEventListener('change', () => {
    setLanguage(select.value);
    void show();
  });
  return element(
    'p',
    { class: 'colophon' },
    element('label', { for: 'language' }, words().language),
    ' ',
    select,
  );
}

/** @param {FileList | null | undefined} files */
async function take(files) {
  const file = files?.[0];
  if (!file) return;
  receipt = (await file.text()).trim() || '-';
  keys = {};
  await show();
}

/**
 * @param {string} text a DID document or a JWK Set
 * @returns {boolean} false for anything else
 */
function useKeys(text) {
  try {
    const given = JSON.parse(text);
    if (!Array.isArray(given.verificationMethod) && !Array.isArray(given.keys)) return false;
    keys = Array.isArray(given.keys) ? { ...keys, jwks: given } : { ...keys, did: given };
  } catch {
    return false;
  }
  void show();
  return true;
}

addEventListener('dragover', (event) => event.preventDefault());
addEventListener('drop', (event) => {
  event.preventDefault();
  void take(event.dataTransfer?.files);
});

void show();
