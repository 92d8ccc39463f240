import { Tab, TabList, TabPanel, Tabs } from 'react-aria-components';
import { sayer } from '../messages/language.ts';
import { Copy } from './text.tsx';

const say = sayer('text');

/** The same call in each language, by its name. The reader's choice holds for all such boxes. */
export function Snippets({
  label,
  snippets,
}: {
  readonly label: string;
  readonly snippets: Readonly<Record<string, string>>;
}) {
  const names = Object.keys(snippets);
  return (
    <Tabs className="snippets">
      <TabList aria-label={label}>
        {names.map((name) => (
          <Tab key={name} id={name}>
            {name}
          </Tab>
        ))}
      </TabList>
      {names.map((name) => (
        <TabPanel key={name} id={name}>
          <Code text={snippets[name] ?? ''} label={`${label}, ${name}`} />
        </TabPanel>
      ))}
    </Tabs>
  );
}

const Code = ({ text, label }: { readonly text: string; readonly label: string }) => (
  <section className="code" aria-label={label}>
    <Copy text={text} of={label} label={say('copy')} />
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a long line is scrolled by keyboard, so the text takes the focus. */}
    <pre tabIndex={0}>
      <code>{text}</code>
    </pre>
  </section>
);
