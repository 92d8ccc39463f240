import { type ReactNode, useId, useRef } from 'react';
import { sayer } from '../../messages/language.ts';
import type { Mark } from './json.ts';

const say = sayer('json');

interface JsonEditorProps {
  readonly label: string;
  readonly text: string;
  readonly change: (text: string) => void;
  readonly marks: readonly Mark[];
}

/** A text with the numbers of its lines. What is wrong stands below it, each with a button to its line. */
export function JsonEditor({ label, text, change, marks }: JsonEditorProps) {
  const area = useRef<HTMLTextAreaElement>(null);
  const numbers = useRef<HTMLPreElement>(null);
  const id = useId();
  const lines = text.split('\n').length;
  const go = (line: number) => {
    const before = text
      .split('\n')
      .slice(0, line - 1)
      .join('\n').length;
    const start = line === 1 ? 0 : before + 1;
    const end = text.indexOf('\n', start);
    area.current?.focus();
    area.current?.setSelectionRange(start, end === -1 ? text.length : end);
  };
  return (
    <div className="json">
      <div className="json-text">
        <pre ref={numbers} aria-hidden="true">
          {numbered(lines, new Set(marks.map(({ line }) => line)))}
        </pre>
        <textarea
          ref={area}
          aria-label={label}
          aria-invalid={marks.length > 0}
          aria-describedby={id}
          value={text}
          rows={Math.min(Math.max(lines + 1, 10), 28)}
          spellCheck="false"
          autoComplete="off"
          wrap="off"
          onChange={({ target }) => change(target.value)}
          onScroll={({ currentTarget }) => numbers.current?.scrollTo(0, currentTarget.scrollTop)}
        />
      </div>
      <div id={id} role="status">
        {marks.length === 0 ? (
          <p className="aside">{say('good')}</p>
        ) : (
          <ul className="marks">
            {marks.map((mark) => (
              <li key={`${mark.line} ${mark.text}`}>
                <button type="button" className="quiet-button" onClick={() => go(mark.line)}>
                  {say('line', { line: mark.line })}
                </button>{' '}
                {mark.text}
              </li>
            ))}
          </ul>
        )}
      </div>
    </div>
  );
}

/** The numbers of the lines, those with a mark set off. */
function numbered(lines: number, marked: ReadonlySet<number>): ReactNode[] {
  const parts: ReactNode[] = [];
  let plain = '';
  for (let line = 1; line <= lines; line += 1) {
    if (!marked.has(line)) {
      plain += `${line}\n`;
      continue;
    }
    parts.push(plain, <mark key={line}>{line}</mark>);
    plain = '\n';
  }
  return [...parts, plain];
}
