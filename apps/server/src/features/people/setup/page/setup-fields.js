import { button, element, literal, setContent } from '../../../../platform/page/dom.js';
import { words } from './setup-words.js';

let fieldCount = 0;

/**
 * A field with its label.
 * @param {string} label
 * @param {{ type?: string, isLong?: boolean }} [kind]
 */
export function field(label, { type = 'text', isLong = false } = {}) {
  fieldCount += 1;
  const id = `field-${fieldCount}`;
  const attributes = { id, autocomplete: 'off', spellcheck: 'false' };
  const input = isLong ? element('textarea', attributes) : element('input', { ...attributes, type });
  const node = element('div', { class: 'field' }, element('label', { for: id }, label), input);
  return { node, value: () => input.value.trim() };
}

/**
 * A choice with its label.
 * @param {string} label
 * @param {{ value: string, label: string }[]} options
 * @param {() => void} changed
 * @param {string} [first]
 */
export function choice(label, options, changed, first) {
  fieldCount += 1;
  const id = `field-${fieldCount}`;
  const select = element(
    'select',
    { id },
    options.map(({ value, label: text }) => element('option', { value, selected: value === first }, text)),
  );
  select.addEventListener('change', changed);
  const node = element('div', { class: 'field' }, element('label', { for: id }, label), select);
  return { node, value: () => select.value };
}

/**
 * A row with a value that the administrator carries over, and a button that copies it.
 * @param {string} term
 * @param {string} value
 */
export function copyable(term, value) {
  const shown = literal(value);
  const outcome = element('p', { class: 'aside', role: 'status' });
  async function copy() {
    try {
      await navigator.clipboard.writeText(value);
      setContent(outcome, words.copied);
    } catch {
      getSelection()?.selectAllChildren(shown);
      setContent(outcome, words.notCopied);
    }
  }
  const press = button(words.copy, copy);
  press.append(element('span', { class: 'unseen' }, ` ${term}`));
  return [term, element('div', {}, element('div', { class: 'value' }, shown, press), outcome)];
}
