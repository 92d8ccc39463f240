/** An element of a small, strict document. */
export interface Element {
  /** Without its prefix. */
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly children: readonly Element[];
  /** All of its text, also below it. */
  readonly text: string;
  /** Whether a comment is directly in it. */
  readonly hasComment: boolean;
}

/** An element while it is read. */
class Open implements Element {
  readonly children: Open[] = [];
  /** Its text and its children, in their order. */
  readonly parts: (string | Open)[] = [];
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  hasComment = false;

  constructor(name: string, attributes: Readonly<Record<string, string>>) {
    this.name = name;
    this.attributes = attributes;
  }

  /** Put together where somebody asks: to add every text to all elements around it would cost their product. */
  get text(): string {
    return this.parts.map((part) => (typeof part === 'string' ? part : part.text)).join('');
  }
}

/** The form of a document: how much it may have beside elements, attributes and text. */
interface Form {
  /** The most elements, and other pieces beside text. */
  readonly mostPieces?: number;
  /** Comments are skipped, and noted in their element. */
  readonly allowsComments?: boolean;
  /** Processing instructions are skipped, and CDATA sections are text: for documents that nobody has signed. */
  readonly isUnsigned?: boolean;
}

const DECLARATION =
  /^<\?xml version=(["'])1\.0\1(?: encoding=(["'])utf-8\2)?(?: standalone=(["'])(?:yes|no)\3)?\s*\?>\s*/i;
const TAG =
  /<(\/?)([A-Za-z_][\w.-]*(?::[A-Za-z_][\w.-]*)?)((?:\s+[A-Za-z_][\w.:-]*\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>/y;
const ATTRIBUTE = /\s*([A-Za-z_][\w.:-]*)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')/gy;
const DEEPEST = 50;
const MAX_PIECES = 5000;
const NO_FORM: Form = {};

/**
 * Reads XML that has elements, attributes and text, and unless its form allows it nothing else: no document type, entity of
 * its own, processing instruction, comment or CDATA section. Two readers cannot differ about such a document, so what is
 * checked here holds for the bytes that another reader verifies.
 * @returns undefined for any other text
 */
export function readXml(text: string, form: Form = NO_FORM): Element | undefined {
  const { mostPieces = MAX_PIECES } = form;
  const xml = text.replace(/^\uFEFF/, '').replace(DECLARATION, '');
  if (hasMore(xml, '&', mostPieces)) return undefined;
  const top = new Open('', {});
  const open: Open[] = [top];
  const names: string[] = [];
  let pieces = 0;
  for (let at = 0; at < xml.length; ) {
    const next = xml.indexOf('<', at);
    const words = decoded(xml.slice(at, next === -1 ? xml.length : next));
    if (words === undefined || (open.length === 1 && words.trim() !== '')) return undefined;
    if (words !== '') open.at(-1)?.parts.push(words);
    if (next === -1) break;
    const other = otherAt(xml, next, form);
    if (other) {
      pieces += 1;
      const within = open.at(-1);
      if (pieces > mostPieces || !within) return undefined;
      if (other.text !== '') within.parts.push(other.text);
      within.hasComment ||= other.isComment;
      at = other.end;
      continue;
    }
    TAG.lastIndex = next;
    const tag = TAG.exec(xml);
    if (!tag) return undefined;
    at = TAG.lastIndex;
    const [, slash, fullName = '', written = '', isEmpty] = tag;
    if (slash) {
      if (written !== '' || isEmpty || names.pop() !== fullName) return undefined;
      open.pop();
      continue;
    }
    pieces += 1;
    const attributes = attributesIn(written);
    if (!attributes || pieces > mostPieces || open.length > DEEPEST) return undefined;
    const element = new Open(localName(fullName), attributes);
    const around = open.at(-1);
    around?.children.push(element);
    around?.parts.push(element);
    if (isEmpty) continue;
    open.push(element);
    names.push(fullName);
  }
  const [root, ...more] = top.children;
  return open.length === 1 && more.length === 0 ? root : undefined;
}

/** Whether a text holds a character more often than this. */
function hasMore(text: string, character: string, most: number): boolean {
  let at = -1;
  for (let count = 0; count <= most; count += 1) {
    at = text.indexOf(character, at + 1);
    if (at === -1) return false;
  }
  return true;
}

interface Other {
  readonly end: number;
  readonly text: string;
  readonly isComment: boolean;
}

/** What begins here and is no tag, where the form allows it. A comment holds no `--` (XML 1.0, section 2.5). */
function otherAt(xml: string, at: number, { allowsComments, isUnsigned }: Form): Other | undefined {
  const kinds: readonly [begin: string, end: string, isAllowed: boolean | undefined][] = [
    ['<!--', '--', allowsComments],
    ['<?', '?>', isUnsigned],
    ['<![CDATA[', ']]>', isUnsigned],
  ];
  const kind = kinds.find(([begin, , isAllowed]) => isAllowed && xml.startsWith(begin, at));
  if (!kind) return undefined;
  const [begin, end] = kind;
  const isComment = end === '--';
  const until = xml.indexOf(end, at + begin.length);
  if (until === -1 || (isComment && xml[until + end.length] !== '>')) return undefined;
  const text = begin === '<![CDATA[' ? xml.slice(at + begin.length, until) : '';
  return { end: until + end.length + (isComment ? 1 : 0), text, isComment };
}

const localName = (name: string) => name.slice(name.indexOf(':') + 1);

function attributesIn(written: string): Record<string, string> | undefined {
  const attributes: Record<string, string> = Object.create(null);
  for (const [, name = '', one, other] of written.matchAll(ATTRIBUTE)) {
    const value = decoded(one ?? other ?? '');
    if (value === undefined || name in attributes) return undefined;
    attributes[name] = value;
  }
  return attributes;
}

const NAMED: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

const NO_REFERENCE = /&(?!(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[\da-fA-F]{1,6});)/;
const REFERENCE = /&([^;&]+);/g;
const LAST_CHARACTER = 0x10ffff;

/** @returns undefined for a reference to an entity that XML does not define */
function decoded(text: string): string | undefined {
  if (NO_REFERENCE.test(text)) return undefined;
  let isPlain = true;
  const plain = text.replace(REFERENCE, (_, name: string) => {
    const named = NAMED[name];
    if (named !== undefined) return named;
    const code = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    isPlain &&= code > 0 && code <= LAST_CHARACTER;
    return isPlain ? String.fromCodePoint(code) : '';
  });
  return isPlain ? plain : undefined;
}

export const childrenOf = ({ children }: Element, name: string): Element[] =>
  children.filter((child) => child.name === name);

/** The child of that name, if there is one and no second. */
export function onlyChild(element: Element | undefined, name: string): Element | undefined {
  const [only, other] = element ? childrenOf(element, name) : [];
  return other ? undefined : only;
}

/** The element and all below it. */
export function* everyElement(element: Element): Generator<Element> {
  const waiting = [element];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    yield next;
    waiting.push(...next.children.toReversed());
  }
}
