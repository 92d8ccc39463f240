/** @import { Problem } from '../../../../platform/page/types.js' */
/** @import { Setup } from './types.js' */
import { button, element, literal, mention, paragraph, setContent } from '../../../../platform/page/dom.js';
import { fill } from '../../../../platform/page/format.js';
import { clause, factList, note } from '../../../../platform/page/parts.js';
import * as screen from '../../../../platform/page/screen.js';
import { setupApi } from './setup-api.js';
import { words } from './setup-words.js';

const { walkthroughs } = words;
const api = setupApi();
let fieldCount = 0;
const link = screen.takeFragment().get('link') ?? '';

open();

async function open() {
  if (screen.isFramed()) return screen.showArticle(words.unusable, paragraph(words.framed));
  if (link === '' && !api.isOpen()) return showProblem({ kind: 'unknown' });
  const answer = await screen.showLoading(words.loading, link === '' ? api.read() : api.open(link));
  if (answer.ok) showSetup(answer.body);
  else showProblem(answer.problem);
}

/** @param {Setup} setup */
function showSetup(setup) {
  const names = { name: mention(setup.name), account: mention(setup.accountName) };
  const provider = choice(
    words.which,
    Object.entries(walkthroughs).map(([value, { label }]) => ({ value, label })),
    draw,
  );
  const sso = setup.purposes.includes('sso') ? renderSso(setup) : undefined;
  const scim = setup.purposes.includes('scim') ? renderScim(setup) : undefined;

  function draw() {
    const walkthrough = walkthroughs[/** @type {keyof typeof walkthroughs} */ (provider.value())];
    sso?.draw(walkthrough);
    scim?.draw(walkthrough);
  }

  draw();
  const progress = renderProgress(setup);
  const heading = element('h1', { tabindex: '-1' }, fill(words.heading, names));
  const done = button(words.done, finish, { class: 'strong' });
  const lead = element('p', { class: 'lead' }, fill(words.lead, names));
  const bar = element('div', { class: 'bar' }, progress.left, done);
  const parts = [progress.node, element('div', { class: 'card' }, provider.node), sso?.node, scim?.node, bar];
  screen.show(element('article', {}, heading, lead, parts), heading);

  async function finish() {
    const answer = await api.finish();
    if (!answer.ok) return showProblem(answer.problem);
    const next = [
      setup.purposes.includes('sso') && words.nextSso,
      setup.purposes.includes('scim') && words.nextScim,
      words.nextChange,
    ];
    const rows = next.map((text) => text && element('li', {}, fill(text, names)));
    const id = 'next';
    const list = element('ul', { class: 'card rows', 'aria-labelledby': id }, rows);
    const title = element('h2', { id, class: 'lead' }, words.next);
    screen.showArticle(words.finished, paragraph(words.finishedText), title, list);
  }
}

/** Draws the steps again after each of them. */
let drawProgress = () => {};

/** @param {'sso' | 'scim'} step @param {boolean} isDone */
function setStep(step, isDone) {
  api.keepStep(step, isDone);
  drawProgress();
}

/** @param {Setup} setup */
function renderProgress({ purposes }) {
  const rows = element('ul', { class: 'card rows steps', 'aria-label': words.progress });
  const left = element('p', { role: 'status' });
  const steps = /** @type {const} */ (['sso', 'scim']).filter((step) => purposes.includes(step));
  drawProgress = () => {
    const done = api.done();
    const drawn = steps.map((step) => {
      const [mark, state] = done.has(step) ? ['badge', words.stepDone] : ['open', words.stepOpen];
      const text = step === 'sso' ? words.stepSso : words.stepScim;
      return element('li', {}, element('span', {}, text), element('span', { class: mark }, state));
    });
    setContent(rows, drawn);
    const count = steps.filter((step) => !done.has(step)).length;
    setContent(left, words.stepsLeft[/** @type {0 | 1 | 2} */ (count)]);
  };
  drawProgress();
  return { node: rows, left };
}

/** @param {Setup} setup */
function renderSso(setup) {
  const steps = element('ol', {});
  const facts = element('div', {});
  const fields = element('div', {});
  const outcome = element('div', { class: 'outcome', role: 'status' });
  const protocol = choice(
    words.how,
    [
      { value: 'oidc', label: words.oidc },
      { value: 'saml', label: words.saml },
    ],
    () => last && draw(last),
    setup.protocol === 'saml' ? 'saml' : 'oidc',
  );
  const inputs = {
    oidc: {
      issuerUrl: field(words.issuerUrl, { type: 'url' }),
      clientId: field(words.clientId),
      clientSecret: field(words.clientSecret, { type: 'password' }),
    },
    saml: {
      metadataUrl: field(words.metadataUrl, { type: 'url' }),
      metadata: field(words.metadata, { isLong: true }),
    },
  };
  /** @type {import('./types.js').Walkthrough | undefined} */
  let last;
  const kind = () => /** @type {'oidc' | 'saml'} */ (protocol.value());

  /** @param {import('./types.js').Walkthrough} walkthrough */
  function draw(walkthrough) {
    last = walkthrough;
    setContent(
      steps,
      walkthrough[kind()].map((step) => element('li', {}, step)),
    );
    const rows =
      kind() === 'oidc'
        ? [copyable(words.redirectUri, setup.redirectUri)]
        : [copyable(words.acsUrl, setup.acsUrl), copyable(words.entityId, setup.entityId)];
    setContent(facts, factList(rows));
    setContent(
      fields,
      Object.values(inputs[kind()]).map(({ node }) => node),
    );
  }

  const save = button(words.save, async () => {
    setContent(outcome, paragraph(words.working));
    const entered = Object.entries(inputs[kind()]).flatMap(([name, { value }]) =>
      value() === '' ? [] : [[name, value()]],
    );
    const saved = await api.save(Object.fromEntries(entered));
    if (!saved.ok) return setContent(outcome, troubleOf(saved.problem));
    const tried = await api.test();
    setStep('sso', tried.ok && tried.body.success);
    setContent(outcome, tried.ok ? outcomeOf(tried.body, setup) : troubleOf(tried.problem));
  });
  const parts = [protocol.node, steps, facts, fields, element('div', { class: 'buttons' }, save), outcome];
  return { node: clause(words.sso, parts), draw };
}

/**
 * @param {import('./types.js').Tried} tried
 * @param {Setup} setup
 */
function outcomeOf({ success, message: reason = '' }, setup) {
  if (success) return paragraph(fill(words.works, { account: mention(setup.accountName) }));
  return note(words.trouble, fill(words.fails, { reason: element('span', { lang: 'en' }, reason) }));
}

/** @param {Problem} problem */
const troubleOf = (problem) => note(words.trouble, problem.message ?? words.troubleText);

/** @param {Setup} setup */
function renderScim(setup) {
  const steps = element('ol', {});
  const token = element('div', { role: 'status' });
  const show = button(words.makeToken, async () => {
    const answer = await api.token();
    if (!answer.ok) return setContent(token, troubleOf(answer.problem));
    setContent(token, paragraph(words.tokenOnce), factList([copyable(words.token, answer.body.token)]));
    setStep('scim', true);
  });
  const parts = [
    steps,
    factList([copyable(words.scimUrl, setup.scimUrl)]),
    element('div', { class: 'buttons' }, show),
    token,
  ];
  return {
    node: clause(words.scim, parts),
    /** @param {import('./types.js').Walkthrough} walkthrough */
    draw: ({ scim }) =>
      setContent(
        steps,
        scim.map((step) => element('li', {}, step)),
      ),
  };
}

/** @param {Problem} problem */
function showProblem(problem) {
  if (problem.kind === 'unknown') return screen.showArticle(words.unusable, paragraph(words.unusableText));
  screen.showArticle(words.trouble, troubleOf(problem), screen.tryAgain(open));
}

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
