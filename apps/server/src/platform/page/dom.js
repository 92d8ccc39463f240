/** @import { Attributes, Child } from './types.js' */

/**
 * Makes every element of the pages. Text from outside becomes text nodes, never markup.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} attributes
 * @param {...Child} children
 */
export function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === 'string') node.setAttribute(name, value);
    else node.toggleAttribute(name, value === true);
  }
  setContent(node, children);
  return node;
}

/**
 * @param {Element} parent
 * @param {...Child} children
 */
export function setContent(parent, ...children) {
  const nodes = /** @type {Array<Node | string | false | null | undefined>} */ (children.flat(9));
  parent.replaceChildren(...nodes.filter((node) => node !== false && node != null));
}

/** @param {...Child} children */
export const paragraph = (...children) => element('p', {}, children);

/** @param {...Child} children */
export const aside = (...children) => element('p', { class: 'aside' }, children);

/**
 * @param {string} label
 * @param {() => void} press
 * @param {Attributes} [attributes]
 */
export function button(label, press, attributes = {}) {
  const node = element('button', { type: 'button', ...attributes }, label);
  node.addEventListener('click', press);
  return node;
}

/**
 * Characters that nobody would see: controls, bidirectional marks, blanks of no or unusual width, lone
 * surrogates. Joiners stay where writing needs them: in emoji, and in scripts that join.
 */
const UNSEEN =
  /((?!\uFE0E|\uFE0F)(?!(?<=\p{Extended_Pictographic}|\p{Emoji_Modifier}|\uFE0F|(?!\p{Script=Latin}|\p{Script=Greek}|\p{Script=Cyrillic})[\p{L}\p{M}])[\u200C\u200D])(?:(?![ \u3000])\p{Zs}|[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\u2800\uFFF9-\uFFFB]))/u;

/**
 * @template Shown
 * @param {string} text
 * @param {(number: string, piece: string) => Shown} show gives what stands for a character that nobody would see
 * @returns {(string | Shown)[]}
 */
export const showUnseen = (text, show) =>
  text
    .split(UNSEEN)
    .map((piece, index) =>
      index % 2 === 0
        ? piece
        : show(`U+${piece.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`, piece),
    );

/**
 * @param {string} text
 * @param {string} [kept] stays as it is
 */
const visible = (text, kept) =>
  showUnseen(text, (number, piece) => (piece === kept ? piece : element('i', {}, number)));

/**
 * A name, isolated so that its writing direction does not reach the text around it.
 * @param {string} text
 * @param {string} [kind]
 */
export const name = (text, kind = 'name') => element('bdi', { class: kind, translate: 'no' }, visible(text));

/**
 * A name in a sentence. A long name is cut there, because the page shows it in full elsewhere.
 * @param {string} text
 */
export const mention = (text) =>
  name(text.length > 48 ? `${[...text].slice(0, 40).join('')}…` : text, 'mention');

/**
 * Lines in another party's words.
 * @param {string} text
 */
export const quotation = (text) =>
  element('blockquote', { dir: 'auto', translate: 'no' }, visible(text, '\n'));

/**
 * An exact value. It may break after punctuation, and a copy of it holds nothing more.
 * @param {string} text
 */
export function literal(text) {
  const pieces = text.match(/[^:/.]+[:/.]*|[:/.]+/g) ?? [];
  return element(
    'code',
    { dir: 'ltr', translate: 'no' },
    pieces.map((piece) => [visible(piece), element('wbr', {})]),
  );
}
